/** What the database can hold of a text, at most so long. */
export function storable(text: string, limit: number): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd').slice(0, limit);
}
