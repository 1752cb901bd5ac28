export type JsonReading = { ok: true; value: unknown } | { ok: false; problem: string };

/** Reads typed JSON; an empty text is no value. The problem names line and column where the engine says where. */
export function readJson(text: string): JsonReading {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const offset = /position (\d+)/.exec(message)?.[1];
    const at = offset === undefined ? text.length : Number(offset);
    const before = text.slice(0, at).split('\n');
    return {
      ok: false,
      problem: `Not JSON: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}. ${sentence(message)}`,
    };
  }
}

function sentence(message: string): string {
  return `${message.replace(/\s*(in JSON )?at position \d+.*$/s, '').replace(/\.$/, '')}.`;
}
