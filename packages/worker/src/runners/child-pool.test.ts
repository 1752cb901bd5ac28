import { beforeEach, expect, test } from 'vitest';
import { ChildPool } from './child-pool.ts';
import type { RunnerChild } from './runner-child.ts';
import type { ProcessEnd } from './runner-crashed.ts';

interface FakeChild extends Pick<RunnerChild, 'module' | 'gone' | 'kill'> {
  killed: boolean;
  die(end: ProcessEnd): void;
}

let forked: FakeChild[];
let warnings: string[];

beforeEach(() => {
  forked = [];
  warnings = [];
});

function make(warm: number): ChildPool {
  return new ChildPool({
    warm,
    log: (_, message) => warnings.push(message),
    fork: (module) => {
      let die: (end: ProcessEnd) => void = () => undefined;
      const gone = new Promise<ProcessEnd>((resolve) => {
        die = resolve;
      });
      const child: FakeChild = {
        module,
        gone,
        killed: false,
        die,
        kill: () => {
          child.killed = true;
        },
      };
      forked.push(child);
      return child as unknown as RunnerChild;
    },
  });
}

const waiting = () => forked.filter((child) => !child.killed).map((child) => child.module);

test('gives away what waits, and starts another ahead', () => {
  const pool = make(2);
  pool.prepare('a');
  expect(waiting()).toEqual(['a', 'a']);
  expect(pool.take('a')).toBe(forked[0]);
  expect(waiting()).toEqual(['a', 'a', 'a']);
  expect(pool.take('a')).toBe(forked[1]);
});

test('starts one at once for another module, and waits for that module from then on', () => {
  const pool = make(1);
  pool.prepare('a');
  const taken = pool.take('b');
  expect(taken.module).toBe('b');
  expect(forked.map((child) => [child.module, child.killed])).toEqual([
    ['a', true],
    ['b', false],
    ['b', false],
  ]);
});

test('starts nothing ahead without warm processes', () => {
  const pool = make(0);
  pool.prepare('a');
  expect(pool.take('a')).toBe(forked[0]);
  expect(forked).toHaveLength(1);
});

test('one that dies while it waits is told, and not replaced before the next is asked for', async () => {
  const pool = make(1);
  pool.prepare('a');
  forked[0]?.die({ code: 1, signal: null, stderr: '' });
  await expect.poll(() => warnings).toEqual(['A process that waited for work has ended: code 1.']);
  expect(forked).toHaveLength(1);
  expect(pool.take('a')).toBe(forked[1]);
  expect(forked).toHaveLength(3);
});

test('one that cannot be started ahead is told, and nothing else', () => {
  const pool = new ChildPool({
    warm: 1,
    log: (_, message) => warnings.push(message),
    fork: () => {
      throw new Error('ENOMEM');
    },
  });
  pool.prepare('a');
  expect(warnings).toEqual(['No process could be started ahead: Error: ENOMEM']);
});

test('closed, it ends those that wait and starts no more ahead', () => {
  const pool = make(1);
  pool.prepare('a');
  const taken = pool.take('a');
  pool.close();
  expect(forked.map((child) => child.killed)).toEqual([false, true]);
  expect(taken).toBe(forked[0]);
  pool.take('a');
  expect(forked).toHaveLength(3);
});
