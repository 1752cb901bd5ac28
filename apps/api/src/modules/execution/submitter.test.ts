import { type TestDatabase, testDatabase, testDatabaseKind } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { uuidSource } from '../../dispatch/ids.ts';
import { createExecutor, type Executor } from '../../dispatch/statements/executor.ts';
import { type FreshExecution, type Submission, Submitter } from './submitter.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase(testDatabaseKind());
});
afterAll(() => database.drop());

const submission: Submission = {
  versionId: 1,
  targetRoles: [],
  priority: 0,
  input: null,
  inputText: null,
  requiredWorker: null,
  preferredWorker: null,
  submittedBy: 'anna',
};

/** Breaks the connection after the commit of the first statements of this name, as often as said. */
function breaking(times: number, also: (name: string) => boolean = () => false) {
  const accepted: FreshExecution[] = [];
  const executor = createExecutor(database);
  let left = times;
  const broken: Executor = {
    run: async (statement, values) => {
      const result = await executor.run<never>(statement, values);
      if (left > 0 && (statement.name === 'submit' || also(statement.name))) {
        left -= 1;
        throw new Error('Connection terminated unexpectedly');
      }
      return result;
    },
  };
  const submitter = new Submitter({
    executor: broken,
    bus: createInProcessBus((_topic, error) => {
      throw error;
    }),
    ids: uuidSource(database),
    parkTtlSeconds: 0,
    queue: { accept: (fresh) => void accepted.push(...fresh) },
  });
  return { submitter, accepted };
}

async function stored(): Promise<number> {
  const { rows } = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution');
  return rows[0]?.n ?? 0;
}

describe('a connection that is lost right after the commit', () => {
  it('does not make an error of an execution that is there', async () => {
    const before = await stored();
    const { submitter, accepted } = breaking(1);
    const outcomes = await Promise.all([submitter.submit(submission), submitter.submit(submission)]);
    expect(outcomes).toEqual([
      { id: expect.any(String) as string, replayed: false },
      { id: expect.any(String) as string, replayed: false },
    ]);
    expect(await stored()).toBe(before + 2);
    expect(accepted.map(({ id }) => id)).toEqual(outcomes.map((outcome) => 'id' in outcome && outcome.id));
  });

  it('nor where it cannot be looked up at once and is sent again', async () => {
    const before = await stored();
    const { submitter, accepted } = breaking(2, (name) => name === 'read_created');
    const outcomes = await Promise.all([submitter.submit(submission), submitter.submit(submission)]);
    expect(outcomes.map((outcome) => 'id' in outcome)).toEqual([true, true]);
    expect(await stored()).toBe(before + 2);
    expect(accepted).toHaveLength(2);
  });

  it('is an error where nothing was stored', async () => {
    const { submitter } = breaking(0);
    await expect(submitter.submit({ ...submission, priority: 5_000 })).rejects.toThrow('priority');
  });
});
