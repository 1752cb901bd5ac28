import { expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import type { ExecutionContext } from '../execution-context.ts';
import { HandlerRun } from '../handler-run.ts';
import type { HostAnswer, RecordedStep, RunHost, Settled, StepWrite } from '../run-host.ts';
import { workflow } from '../workflow.ts';

/** Numbers in [0, 1) that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * One execution as the server keeps it: steps, generations, children that end whenever they like; and a fate that takes
 * the claim away in the middle of anything.
 */
class Fate {
  readonly random: () => number;
  readonly #steps = new Map<number, RecordedStep>();
  generation = 1;
  /** Assigned under this generation, but not claimed yet: that claim will see what the server completes now. */
  #scheduled = false;
  #writes: Promise<unknown> = Promise.resolve();
  #untilLoss: number;
  #losses = 0;
  #wake: () => void = () => undefined;
  lose: () => void = () => undefined;

  constructor(seed: number) {
    this.random = seeded(seed);
    this.#untilLoss = this.pick(12);
  }

  pick(below: number): number {
    return Math.floor(this.random() * below);
  }

  assign(): void {
    this.generation += 1;
    this.#scheduled = true;
  }

  /** What the claim is told. */
  claim(): readonly RecordedStep[] {
    this.#scheduled = false;
    return [...this.#steps.values()].toSorted((a, b) => a.position - b.position);
  }

  /** Resolves when one of the open steps of a suspended execution is done. */
  async woken(positions: readonly number[]): Promise<void> {
    while (!positions.some((position) => this.#steps.get(position)?.done === true))
      await new Promise<void>((resolve) => void (this.#wake = resolve));
  }

  host(generation: number, onSuspend: (positions: readonly number[]) => void): RunHost {
    const write = (take: () => void): Promise<HostAnswer> => {
      const answer = this.#writes.then(async (): Promise<HostAnswer> => {
        await turns(this.pick(4));
        if (generation !== this.generation) return { status: 'lost' };
        take();
        this.#untilLoss -= 1;
        if (this.#untilLoss === 0 && this.#losses < 6) {
          this.#losses += 1;
          this.#untilLoss = this.pick(15);
          // Taken, but the worker never hears of it.
          this.assign();
          this.lose();
          return { status: 'lost' };
        }
        return { status: 'taken' };
      });
      this.#writes = answer;
      return answer;
    };
    return {
      recordStep: (step) => write(() => this.#record(step, generation)),
      call: ({ position, workflow: name }) =>
        write(() => {
          this.#steps.set(position, { position, kind: 'CALL', name, done: false });
          void this.#endChild(position);
        }),
      suspend: (positions) => write(() => onSuspend(positions)),
      event: () => Promise.resolve(),
    };
  }

  #record(step: StepWrite, generation: number): void {
    expect(this.#steps.get(step.position)?.done ?? false).toBe(false);
    this.#steps.set(step.position, { ...step, generation: step.done ? generation : null });
  }

  async #endChild(position: number): Promise<void> {
    await turns(this.pick(60));
    const step = this.#steps.get(position);
    if (step === undefined) return;
    const generation = this.#scheduled ? this.generation : this.generation + 1;
    this.#steps.set(position, { ...step, done: true, result: `child ${position}`, generation, order: null });
    this.#wake();
  }
}

test('chains beside each other are the same in every replay, whenever the claim is lost and whichever ends first', async () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const fate = new Fate(seed);
    const owners = new Map<string, string>();
    // What the handler asks for depends on how much it has seen by then, over all chains.
    const handler = async (ctx: ExecutionContext): Promise<unknown> => {
      let seen = 0;
      const chain = async (id: number): Promise<unknown[]> => {
        const results: unknown[] = [];
        for (let n = 0; n < 5; n += 1) {
          const what = (id * 7 + n * 3 + seen) % 4;
          const name = `chain ${id} after ${seen}`;
          if (what === 0) results.push(await ctx.call(`test/c${seen}`, null));
          else if (what === 1) results.push(await ctx.random());
          else {
            const task = ctx.task(name, async ({ attemptKey }) => {
              expect(owners.get(attemptKey) ?? name).toBe(name);
              owners.set(attemptKey, name);
              await turns(fate.pick(5));
              if (fate.random() < 0.2) throw new Error(name);
              return name;
            });
            results.push(await task.catch((error: Error) => error.message));
          }
          seen += 1;
        }
        return results;
      };
      return await Promise.all([0, 1, 2, 3].map(chain));
    };
    const flow = workflow({ namespace: 'test', name: 'flow' }, handler);

    const outputs: unknown[] = [];
    // To the end, and then once more: a replay of everything has to give the same.
    while (outputs.length < 2) {
      const { generation } = fate;
      let waits: readonly number[] = [];
      const steps = fate.claim();
      const run = new HandlerRun({
        workflow: flow,
        job: {
          executionId: 'ex_1',
          generation,
          workflow: flow.ref,
          version: 1,
          runner: null,
          attempt: 1,
          maxAttempts: 100,
          timeoutSeconds: null,
          access: { server: 'http://127.0.0.1:1', token: 'msx_test', worker: 'w' },
          input: null,
          steps,
        },
        host: fate.host(generation, (positions) => (waits = positions)),
        clock: systemClock,
        random: fate.random,
        longSleepMs: 30_000,
        transient: () => undefined,
      });
      let lost = false;
      fate.lose = () => {
        lost = true;
        run.giveUp();
      };
      const settled: Settled = await run.settled;
      if (lost) continue;
      if (settled.kind === 'threw') throw new Error(`seed ${seed}: ${settled.error.message}`);
      if (settled.kind === 'returned') outputs.push(settled.output);
      else await fate.woken(waits);
      fate.assign();
    }
    expect(outputs[1]).toEqual(outputs[0]);
  }
}, 120_000);
