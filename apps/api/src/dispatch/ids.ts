/** Inside the server an id is 32 hex digits, as the API shows it after its prefix; the database writes UUIDs with dashes. */
export function rawId(uuid: string): string {
  return uuid.length === 36 ? uuid.replaceAll('-', '') : uuid;
}

/** Makes UUID v7 whose time is the database's, rising within this process. */
export interface UuidSource {
  /** Raw: 32 hex digits. */
  next(): string;
}

export function uuidSource(database: { uuidv7(): string }): UuidSource {
  return { next: () => rawId(database.uuidv7()) };
}

/** Milliseconds since the epoch at which a raw UUID v7 was made. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16);
}
