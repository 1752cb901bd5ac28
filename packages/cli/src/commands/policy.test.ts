import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { runCommand } from '../testing/run-command.ts';

let cwd: string;
const cleanups: (() => Promise<void>)[] = [];
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'muster-policy-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(cwd, { recursive: true });
});

function write(name: string, text: string): string {
  writeFileSync(join(cwd, name), text);
  return name;
}

describe('policy check', () => {
  test.each([
    ['score( least( load() ), )', 'ROUTING', 'score(least(load()))'],
    ['flux.routing.require(label("a")=="b")', 'AFFINITY', 'require(label("a") == "b")'],
    ["# why\n{'a': 'b'}", 'AFFINITY', '{"a": "b"}'],
    ['ResourceRequest(cpu=2,)', 'REQUESTS', 'ResourceRequest(cpu=2)'],
  ])('%s', async (text, stage, formatted) => {
    expect(await runCommand(['policy', 'check', text], { cwd })).toEqual({ code: 0, out: formatted, err: '' });
    const { out } = await runCommand(['policy', 'check', text, '--json'], { cwd });
    expect(JSON.parse(out)).toMatchObject({ ok: true, policies: [{ stage, formatted }], problems: [] });
  });

  test('every problem with its place, and exit code 1', async () => {
    const { code, out, err } = await runCommand(['policy', 'check', 'score(\n  foo(),\n  least(load(), weight=0))'], {
      cwd,
    });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n').map((line) => line.split(' ')[0])).toEqual(['text:2:3:', 'text:3:24:']);
    const asJson = await runCommand(['policy', 'check', 'score()', '--json'], { cwd });
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out)).toMatchObject({
      ok: false,
      policies: [],
      problems: [{ code: 'TERMS_MISSING', line: 1, column: 1 }],
    });
  });

  test('a file, stdin, and the stage where it cannot be seen', async () => {
    expect(await runCommand(['policy', 'check', write('p.txt', 'score(least(load()))\n')], { cwd })).toMatchObject({
      code: 0,
    });
    expect(await runCommand(['policy', 'check', '@p.txt'], { cwd })).toMatchObject({ code: 0 });
    const stdin = await runCommand(['policy', 'check', '-'], { cwd, stdin: 'score()' });
    expect(stdin).toMatchObject({ code: 1, err: expect.stringContaining('stdin:1:1:') });
    expect(await runCommand(['policy', 'check', 'score(least(load()))', '--stage', 'affinity'], { cwd })).toMatchObject(
      { code: 1 },
    );
  });

  test('the policies of a Python file', async () => {
    const file = write(
      'flows.py',
      '@workflow.with_options(routing=score(least(load())), affinity={"a": "b"})\ndef f(ctx): pass\n',
    );
    const { code, out } = await runCommand(['policy', 'check', file], { cwd });
    expect({ code, out }).toEqual({ code: 0, out: '# default/f\nscore(least(load()))\n# default/f\n{"a": "b"}' });
    const bad = write('bad.py', '@workflow.with_options(routing=P)\ndef f(ctx): pass\n');
    expect(await runCommand(['policy', 'check', bad], { cwd })).toMatchObject({
      code: 1,
      err: expect.stringContaining('bad.py:1:32:'),
    });
  });

  test.each([
    [['nothing.txt'], 'There is no file nothing.txt, and it is no policy either.'],
    [['score()', '--stage', 'soft'], '--stage is routing, affinity or requests.'],
  ])('%j is a usage error', async (args, message) => {
    expect(await runCommand(['policy', 'check', ...args], { cwd })).toEqual({ code: 2, out: '', err: message });
  });
});

describe('policy preview', () => {
  const candidate = {
    worker: 'gpu-eu',
    role: 'gpu-worker',
    rank: 1,
    total: 20,
    load: 1,
    capacity: 4,
    rejected: null,
    rejectedBecause: null,
    cells: [{ state: 'SCORED', value: 'eu', valueAgeMs: null, normalised: 1, weighted: 20 }],
    rejections: [],
  };
  const preview = {
    outcome: 'ASSIGNED',
    winner: 'gpu-eu',
    reason: null,
    method: 'ROUTING',
    degraded: null,
    blinded: false,
    margin: null,
    tieBreak: 'NONE',
    explanation: ['gpu-eu is the only eligible worker.'],
    eligibleCount: 1,
    rejectedCount: 0,
    warnings: ['No worker sends queue_depth.'],
    terms: [{ text: 'prefer(label("region") == "eu")', weight: 20, active: true, withheld: false, note: null }],
    rejections: [],
    candidates: [candidate],
  };

  async function serve() {
    const server = await answeringServer({ PolicyPreview: { data: { previewDispatch: preview } } });
    cleanups.push(() => server.close());
    return server;
  }

  test('flags become the input, and the answer an explanation', async () => {
    const { url, received } = await serve();
    write('affinity.txt', 'require(label("a") == "b")');
    const { code, out } = await runCommand(
      [
        ...['policy', 'preview', '--routing', 'score(prefer(label("region") == "eu"))', '--affinity', '@affinity.txt'],
        ...[
          '--requests',
          'ResourceRequest(cpu=2, memory="8Gi")',
          '--runner',
          'subprocess',
          '--target-role',
          'a',
          '--target-role',
          'b',
        ],
        ...[
          '--input',
          '{"x": 1}',
          '-r',
          'cohort=canary',
          '--prefer-worker',
          'w-1',
          '--weight',
          '2=5',
          '--decision',
          'de_1',
        ],
      ],
      { url, cwd },
    );
    expect(code).toBe(0);
    expect(received[0]?.variables['input']).toEqual({
      workflow: null,
      routing: 'score(prefer(label("region") == "eu"))',
      affinity: 'require(label("a") == "b")',
      requests: { cpu: 2, memory: null, memoryText: '8Gi', disk: null, gpu: null, packages: [] },
      runner: 'subprocess',
      targetRoles: ['a', 'b'],
      input: { x: 1 },
      routingInput: { cohort: 'canary' },
      requiredWorker: null,
      preferredWorker: 'w-1',
      decision: 'de_1',
      weights: [null, 5],
    });
    expect(out).toContain('ASSIGNED to gpu-eu by its policy (1 eligible, 0 left out)');
    expect(out).toContain('! No worker sends queue_depth.');
    expect(out).toMatch(/1 +gpu-eu ✓ +gpu-worker +eu → 20 +20 +1 of 4/);
  });

  test('--json', async () => {
    const { url } = await serve();
    const { out } = await runCommand(['policy', 'preview', '--workflow', 'demo/chat', '--json'], { url });
    expect(JSON.parse(out)).toEqual(preview);
  });

  test.each([
    [['--workflow', 'a/b', '--routing', 'score()'], 'not both'],
    [['--requests', 'ResourceRequest(cpu=x)'], '--requests:1:21:'],
    [['--weight', '0=1'], 'The term of --weight must be a whole number from 1 to 64'],
    [['--weight', '1=0'], 'must be a number above 0'],
    [['--input', '{'], 'INPUT is not JSON'],
    [['--routing', '@nothing.txt'], 'There is no file nothing.txt'],
  ])('%j is a usage error', async (args, message) => {
    const { code, err } = await runCommand(['policy', 'preview', ...args], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
