import { type ApiError, isRecord } from './client.ts';

/** What stands on the server now. Who saved it and when is told for some things only. */
export interface CurrentRevision {
  revision: number;
  updatedBy: string | null;
  updatedAt: string | null;
}

/** `current` of a CONFLICT on a revision; null where the error says something else. */
export function currentOf(error: ApiError | null): CurrentRevision | null {
  if (error?.code !== 'CONFLICT') return null;
  const current = error.extensions['current'];
  if (!isRecord(current) || typeof current['revision'] !== 'number') return null;
  const text = (name: string): string | null => (typeof current[name] === 'string' ? current[name] : null);
  return { revision: current['revision'], updatedBy: text('updatedBy'), updatedAt: text('updatedAt') };
}
