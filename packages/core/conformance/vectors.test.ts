import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { VECTOR_KINDS, type Vector, answer, kindOfFile } from './answer.ts';

const COUNTS = { scoring: 1500, extraction: 350, affinity: 320, header: 320, requests: 320, 'requests-extraction': 80 };

function vectorsOf(file: string): Vector[] {
  const text = readFileSync(new URL(`vectors/${file}.jsonl`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): Vector => JSON.parse(line));
}

describe('conformance', () => {
  it.each(VECTOR_KINDS)('answers every %s vector', (kind) => {
    const vectors = vectorsOf(kind);
    expect(vectors).toHaveLength(COUNTS[kind]);
    const failures = vectors.flatMap((vector) => {
      const { reason } = answer(kind, vector);
      return reason === null ? [] : [`${vector.id}: ${reason}`];
    });
    expect(failures.slice(0, 20)).toEqual([]);
  });

  it.each(VECTOR_KINDS)('tells a wrong %s answer from a right one', (kind) => {
    for (const vector of vectorsOf(kind).slice(0, 40)) {
      expect(answer(kind, { ...vector, expected: wrong(vector.expected) }).ok, vector.id).toBe(false);
    }
  });

  it('knows the kind by the start of the file name, longest first', () => {
    expect(kindOfFile('/a/scoring/requests-extraction-2.jsonl')).toBe('requests-extraction');
    expect(kindOfFile('requests.hidden.jsonl')).toBe('requests');
    expect(kindOfFile('C:\\x\\header.jsonl')).toBe('header');
    expect(kindOfFile('quirks.jsonl')).toBeNull();
  });
});

/** An expectation that the right answer does not meet. */
function wrong(expected: Vector['expected']): Vector['expected'] {
  if ('match' in expected) return { ...expected, match: expected['match'] !== true };
  if ('accept' in expected) return { accept: expected['accept'] !== true, value: { other: 1 } };
  if ('ok' in expected) return { ok: expected['ok'] !== true, spec: {} };
  return { ...expected, winner: `not ${String(expected['winner'])}` };
}
