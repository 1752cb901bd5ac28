import { describe, expect, it } from 'vitest';
import type { Candidate, Cell, Decision } from './decision-queries.ts';
import {
  cellText,
  eligible,
  explanationMarkdown,
  funnel,
  heatStep,
  intensity,
  rejected,
  tieNote,
  verdict,
} from './decision-reading.ts';

const cell = (more: Partial<Cell> = {}): Cell => ({
  state: 'SCORED',
  value: 'eu',
  valueAgeMs: null,
  normalised: 0.5,
  weighted: 5,
  ...more,
});
const candidate = (worker: string, total: number | null, load = 0, more: Partial<Candidate> = {}): Candidate => ({
  worker,
  role: 'r',
  rank: 1,
  total,
  load,
  capacity: null,
  rejected: null,
  rejectedBecause: null,
  cells: [cell({ weighted: total })],
  rejections: [],
  ...more,
});
const decision = (candidates: Candidate[], more: Partial<Decision> = {}): Decision =>
  ({
    id: 'de_1',
    at: '2026-01-01T00:00:00.000Z',
    outcome: 'ASSIGNED',
    winner: candidates[0]?.worker ?? null,
    method: 'ROUTING',
    degraded: null,
    blinded: false,
    margin: 1,
    tieBreak: 'NONE',
    terms: [{ text: 'least(load())', weight: 10, active: true, withheld: false, note: null }],
    candidates,
    eligibleCount: candidates.length,
    rejectedCount: 0,
    rejections: [],
    explanation: ['w won.'],
    execution: null,
    ...more,
  }) as Decision;

describe('the verdict', () => {
  it('says who won and by how much, or why nobody did', () => {
    const two = [candidate('w-1', 3), candidate('w-2', 2)];
    expect(verdict(decision(two))).toBe('w-1 won by 1.00');
    expect(verdict(decision(two, { tieBreak: 'NAME', margin: 0 }))).toBe('w-1 won the tie');
    expect(verdict(decision(two, { method: 'LEAST_LOADED' }))).toBe('w-1 was the least loaded');
    expect(verdict(decision([candidate('w-1', 3)]))).toBe('w-1 was the only eligible worker');
    expect(verdict(decision(two, { winner: null, outcome: 'PARKED' }))).toBe('Nobody could take it');
    expect(verdict(decision([], { outcome: 'FAILED' }))).toBe('Failed at dispatch');
  });

  it('of a blinded decision gives no number away', () => {
    const blinded = decision([candidate('w-1', null), candidate('w-2', null)], { blinded: true, margin: null });
    expect(verdict(blinded)).toBe('w-1 was chosen');
    expect(tieNote(blinded)).toBeNull();
    expect(explanationMarkdown(blinded, 'link')).not.toContain('Total');
  });
});

describe('a tie', () => {
  it('names all that tie and what decided', () => {
    const three = decision([candidate('a', 2, 1), candidate('b', 2, 1), candidate('c', 2, 1), candidate('d', 1)]);
    expect(tieNote(three)).toEqual({
      fact: 'a, b and c tie on 2.00.',
      rest: 'Same load (1), so the name decided: a comes first.',
    });
    expect(tieNote(decision([candidate('a', 2, 1), candidate('b', 2, 3)]))?.rest).toBe(
      'The lower load decided: 1 on a against 3 on b.',
    );
    expect(tieNote(decision([candidate('a', 2), candidate('b', 1)]))).toBeNull();
  });
});

describe('the table', () => {
  it('keeps the eligible and the rejected apart, and the filters in the order they ran', () => {
    const left = candidate('x', null, 0, { rejected: 'NO_CAPACITY' });
    const both = decision([candidate('a', 1), left], {
      rejections: [
        { reason: 'NO_CAPACITY', count: 1 },
        { reason: 'OFFLINE', count: 2 },
      ],
    });
    expect(eligible(both).map((row) => row.worker)).toEqual(['a']);
    expect(rejected(both).map((row) => row.worker)).toEqual(['x']);
    expect(funnel(both).map((each) => each.reason)).toEqual(['OFFLINE', 'NO_CAPACITY']);
  });

  it('says in words what is no score', () => {
    const text = (state: Cell['state'], note: string | null = null) =>
      cellText(cell({ state, value: null, weighted: null }), 'weighted', note);
    expect(text('MISSING')).toEqual({ main: 'missing', sub: 'scored 0' });
    expect(text('INACTIVE', 'nobody sends it')).toEqual({ main: 'inactive', sub: 'nobody sends it' });
    expect(text('WITHHELD')).toEqual({ main: 'withheld', sub: 'reads routing input' });
    expect(cellText(cell(), 'weighted', null)).toEqual({ main: '5.00', sub: 'eu' });
    expect(cellText(cell(), 'raw', null)).toEqual({ main: 'eu', sub: '' });
  });

  it('tints weighted scores over the whole table, others per column', () => {
    const terms = decision([]).terms;
    expect(intensity(cell({ weighted: 5 }), terms, 'weighted')).toBe(0.5);
    expect(intensity(cell({ normalised: 1 }), terms, 'normalised')).toBe(1);
    expect(intensity(cell(), terms, 'raw')).toBe(0);
    expect([0, 0.01, 0.25, 0.26, 1].map(heatStep)).toEqual([0, 1, 1, 2, 4]);
  });
});
