import { ClientError } from '@muster/client';
import { describe, expect, test } from 'vitest';
import { maxFlushBytes, Stage, type StageOptions } from './stage.ts';

/** A stage of numbers whose flushes are answered by hand. */
function testStage(options: Partial<StageOptions<number, string>> = {}) {
  const flushes: { readonly items: readonly number[]; answer: () => void; fail: (code: string) => void }[] = [];
  const refused: string[] = [];
  const stage = new Stage<number, string>({
    send: (items) =>
      new Promise((resolve, reject) => {
        flushes.push({
          items,
          answer: () => resolve(items.map((item) => `taken ${item}`)),
          fail: (code) => reject(new ClientError(code, code)),
        });
      }),
    refuse: (item, error) => `refused ${item}: ${error.code}`,
    onRefused: (error) => refused.push(error.code),
    random: () => 0,
    ...options,
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { stage, flushes, refused, settle };
}

describe('batches', () => {
  test('what is added in one turn goes out together, at once', async () => {
    const { stage, flushes, settle } = testStage();
    stage.resume();
    const answers = Promise.all([stage.add(1), stage.add(2), stage.add(3)]);
    await settle();
    expect(flushes.map((flush) => flush.items)).toEqual([[1, 2, 3]]);
    flushes[0]?.answer();
    expect(await answers).toEqual(['taken 1', 'taken 2', 'taken 3']);
    expect(stage.size).toBe(0);
  });

  test('only one is under way, and the next takes all that has come meanwhile, at most 200', async () => {
    const { stage, flushes, settle } = testStage();
    stage.resume();
    void stage.add(0);
    await settle();
    for (let item = 1; item <= 450; item += 1) void stage.add(item);
    await settle();
    expect(flushes).toHaveLength(1);
    flushes[0]?.answer();
    await settle();
    flushes[1]?.answer();
    await settle();
    flushes[2]?.answer();
    await settle();
    expect(flushes.map((flush) => flush.items.length)).toEqual([1, 200, 200, 50]);
    expect(flushes[3]?.items.at(-1)).toBe(450);
  });

  test('large items make smaller batches, and one above the limit goes alone', async () => {
    const { stage, flushes, settle } = testStage({ sizeOf: (item) => item });
    stage.resume();
    for (const bytes of [maxFlushBytes + 1, maxFlushBytes / 2, maxFlushBytes / 2, 1]) void stage.add(bytes);
    for (let flush = 0; flush < 3; flush += 1) {
      await settle();
      flushes[flush]?.answer();
    }
    await settle();
    expect(flushes.map((flush) => flush.items.length)).toEqual([1, 2, 1]);
  });
});

describe('a connection that comes and goes', () => {
  test('nothing is sent before resume, and what waited goes out then', async () => {
    const { stage, flushes, settle } = testStage();
    void stage.add(1);
    await settle();
    expect(flushes).toHaveLength(0);
    stage.resume();
    await settle();
    expect(flushes[0]?.items).toEqual([1]);
  });

  test('an unanswered batch is sent again first, marked, with what has come since', async () => {
    const { stage, flushes, settle } = testStage({ again: (item) => item + 1_000 });
    stage.resume();
    const first = stage.add(1);
    await settle();
    void stage.add(2);
    stage.pause();
    flushes[0]?.fail('UNAVAILABLE');
    await settle();
    expect(flushes).toHaveLength(1);
    stage.resume();
    await settle();
    expect(flushes[1]?.items).toEqual([1_001, 2]);
    flushes[1]?.answer();
    expect(await first).toBe('taken 1001');
  });

  test('a failure while connected is tried again after a wait', async () => {
    const { stage, flushes, settle } = testStage();
    stage.resume();
    const answer = stage.add(1);
    await settle();
    flushes[0]?.fail('INTERNAL');
    await expect.poll(() => flushes.length).toBe(2);
    flushes[1]?.answer();
    expect(await answer).toBe('taken 1');
  });

  test.each(['CONFLICT', 'NOT_FOUND', 'FORBIDDEN', 'UNAUTHENTICATED'])('%s is handed on and waits', async (code) => {
    const { stage, flushes, refused, settle } = testStage();
    stage.resume();
    void stage.add(1);
    await settle();
    flushes[0]?.fail(code);
    await settle();
    expect(refused).toEqual([code]);
    expect(flushes).toHaveLength(1);
    stage.resume();
    await settle();
    expect(flushes[1]?.items).toEqual([1]);
  });
});

test('one unreadable item is found and refused alone; the others are taken', async () => {
  const { stage, flushes, settle } = testStage();
  stage.resume();
  const answers = Promise.all([1, 2, 3].map((item) => stage.add(item)));
  await settle();
  flushes[0]?.fail('BAD_INPUT');
  for (const [index, good] of [true, false, true].entries()) {
    await settle();
    expect(flushes[index + 1]?.items).toEqual([index + 1]);
    if (good) flushes[index + 1]?.answer();
    else flushes[index + 1]?.fail('BAD_INPUT');
  }
  expect(await answers).toEqual(['taken 1', 'refused 2: BAD_INPUT', 'taken 3']);
  const later = Promise.all([stage.add(4), stage.add(5)]);
  await settle();
  expect(flushes[4]?.items).toEqual([4, 5]);
  flushes[4]?.answer();
  expect(await later).toEqual(['taken 4', 'taken 5']);
});
