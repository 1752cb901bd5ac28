import { workflow } from '@muster/worker';
import { describe, expect, it } from 'vitest';
import { startTestApp, until } from './testing/test-app.ts';

/** What whoever starts the server may count on. */
const STOP_MS = 10_000;

describe('a stop under load', () => {
  it('ends within 10 s with a handler that heeds nothing, a caller that waits, and callers that go on', async () => {
    let release = (): void => undefined;
    let running = 0;
    const deaf = workflow({ name: 'deaf' }, () => {
      running += 1;
      return new Promise<void>((resolve) => (release = resolve));
    });
    const app = await startTestApp({ embeddedWorker: true }, { workflows: [deaf] });
    await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
    const run =
      'mutation ($wait: Int) { runWorkflow(input: { workflow: "deaf", waitSeconds: $wait }) { execution { id } } }';
    const accepted: string[] = [];
    const waiting = app.post(run, { wait: 60 }).catch(() => null);
    await until(() => running > 0, 'the handler');
    let stopped = false;
    const answers = new Set<string>();
    const callers = Array.from({ length: 8 }, async () => {
      while (!stopped) {
        const answer = await app.post(run, { wait: 0 }).catch(() => null);
        if (answer?.data?.runWorkflow) accepted.push(answer.data.runWorkflow.execution.id);
        answers.add(answer === null ? 'no connection' : (answer.errors[0]?.extensions.code ?? 'accepted'));
        if (answer === null) return;
      }
    });
    await until(() => accepted.length > 20, 'the load');
    const begin = performance.now();
    await app.stop();
    expect(performance.now() - begin).toBeLessThan(STOP_MS);
    stopped = true;
    await Promise.all([...callers, waiting]);
    // Until the sockets close callers are told to come back; nothing fails for want of a part that is closed already.
    expect([...answers].filter((answer) => !['accepted', 'UNAVAILABLE', 'no connection'].includes(answer))).toEqual([]);
    expect(app.lines.filter((line) => line.includes('cut short'))).toEqual([]);
    release();
    await app.close();
  });
});
