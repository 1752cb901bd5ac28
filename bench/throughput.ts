// Submit, drain and one-by-one, beside pg-boss and graphile-worker on the same PostgreSQL in the same run.
// `npx tsx bench/throughput.ts [jobs]`; needs the built server (`npm run setup`) and PostgreSQL's programs.
import process from 'node:process';
import { createTestDatabase } from '@muster/db/testing';
import type { Contestant } from './contestant.ts';
import { graphileWorker } from './graphile-worker.ts';
import { muster } from './muster.ts';
import { pgBoss } from './pg-boss.ts';

const jobs = Number(process.argv[2] ?? 20_000);
const single = Math.min(5_000, jobs);
const batch = 500;
const warmUp = 2_000;
const callers = 16;

interface Result {
  readonly name: string;
  readonly how: string;
  readonly submit: number;
  readonly drain: number;
  readonly oneByOne: number;
}

/** @returns how many per second */
async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (count / (performance.now() - begun)) * 1000;
}

async function submitAll(contestant: Contestant, count: number): Promise<void> {
  for (let n = 0; n < count; n += batch) {
    await contestant.submitMany(Array.from({ length: Math.min(batch, count - n) }, (_, index) => ({ n: n + index })));
  }
}

async function measure(contestant: Contestant): Promise<Result> {
  // A process that has just started measures its compiler.
  await submitAll(contestant, warmUp);
  await contestant.drain(warmUp);
  const submit = await perSecond(jobs, () => submitAll(contestant, jobs));
  const drain = (jobs / (await contestant.drain(jobs))) * 1000;
  let n = 0;
  const caller = async () => {
    while (n < single) {
      n += 1;
      await contestant.submitOne({ n });
    }
  };
  const oneByOne = await perSecond(single, () => Promise.all(Array.from({ length: callers }, caller)));
  return { name: contestant.name, how: contestant.how, submit, drain, oneByOne };
}

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en') : cell)).join(' | ')} |`;
}

const results: Result[] = [];
for (const make of [
  pgBoss,
  (url: string) => graphileWorker(url, false),
  (url: string) => graphileWorker(url, true),
  muster,
]) {
  const database = await createTestDatabase('postgres');
  if (typeof database.target !== 'string') throw new Error('this bench needs PostgreSQL');
  const contestant = await make(database.target);
  try {
    const result = await measure(contestant);
    console.error(
      `${result.name}: submit ${Math.round(result.submit)}, drain ${Math.round(result.drain)}, one by one ${Math.round(result.oneByOne)}`,
    );
    results.push(result);
  } finally {
    await contestant.close();
    await database.remove();
  }
}
console.log(`${jobs.toLocaleString('en')} jobs, ${callers} callers one by one; jobs per second`);
console.log(row(['', 'bulk submit', 'drain', 'one by one', 'how']));
console.log('|---|---|---|---|---|');
for (const { name, how, submit, drain, oneByOne } of results) console.log(row([name, submit, drain, oneByOne, how]));
