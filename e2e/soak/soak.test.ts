import process from 'node:process';
import { expect, test } from 'vitest';
import { soak } from './soak.ts';

const nothing = (broken: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.keys(broken).map((what) => [what, []]));

test.each([
  ['one server', 1],
  ['two replicas whose leader dies', 2],
])(
  'a minute of kills, freezes, stops and cuts, with %s: nothing is lost and nothing done twice',
  async (_what, replicas) => {
    const { accepted, blows, broken } = await soak({
      replicas,
      workers: 8,
      seconds: 60,
      executions: 600,
      serverSeconds: 20,
      seed: Date.now() % 1_000_000,
      // The runs take minutes: whoever watches sees where they stand, and the seed.
      say: (line) => process.stderr.write(`${line}\n`),
    });
    expect(broken).toEqual(nothing(broken));
    expect(accepted).toBe(600);
    // Without blows it would have shown nothing.
    for (const [blow, times] of Object.entries(blows)) expect(times, blow).toBeGreaterThan(0);
  },
);
