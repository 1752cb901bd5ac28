import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { runCommand } from '../testing/run-command.ts';

let cwd: string;
const cleanups: (() => Promise<void>)[] = [];
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'muster-register-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(cwd, { recursive: true });
});

/** A server that takes every registration, unless told otherwise. */
async function serve(answers: Parameters<typeof answeringServer>[0] = {}) {
  let number = 0;
  const server = await answeringServer({
    RegisterWorkflow: () => {
      number += 1;
      const version = { id: `wv_${number}`, number, workflowRef: `default/w${number}` };
      return { data: { registerWorkflow: { created: number > 1, version } } };
    },
    ...answers,
  });
  cleanups.push(() => server.close());
  return server;
}

function write(name: string, content: string | Buffer): string {
  writeFileSync(join(cwd, name), content);
  return name;
}

const flows = `from flux import workflow as w
from flux.domain import ResourceRequest
from flux.routing import score as s, least, load, require, label, input

@w.with_options(
    name="train", namespace="ml", description="Trains.",
    routing=s(least(load(), weight=2)),
    affinity=require(label("region") == input("region")),
    requests=ResourceRequest(cpu=2, memory="8Gi", packages=["torch>=2.6"]),
    runner="subprocess", max_attempts=5, timeout_seconds=60,
)
async def f(ctx): ...

@w
async def plain(ctx): ...
`;

describe('workflow register', () => {
  test('sends what the file says, in the words of the policy language', async () => {
    const { url, received } = await serve();
    const { code, out, err } = await runCommand(['workflow', 'register', write('flows.py', flows)], { url, cwd });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(received.map(({ variables }) => variables['input'])).toEqual([
      {
        namespace: 'ml',
        name: 'train',
        description: 'Trains.',
        routing: 'score(least(load(), weight=2))',
        affinity: 'require(label("region") == input("region"))',
        requests: { cpu: 2, memory: null, memoryText: '8Gi', disk: null, gpu: null, packages: ['torch>=2.6'] },
        runner: 'subprocess',
        maxAttempts: 5,
        timeoutSeconds: 60,
      },
      {
        namespace: 'default',
        name: 'plain',
        description: null,
        routing: null,
        affinity: null,
        requests: null,
        runner: null,
        timeoutSeconds: null,
      },
    ]);
    expect(out.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'workflow version id',
      'default/w1 1 wv_1 unchanged',
      'default/w2 2 wv_2 new version',
    ]);
  });

  test('--json', async () => {
    const { url } = await serve();
    const { out } = await runCommand(['workflow', 'register', write('flows.py', flows), '--json'], { url, cwd });
    expect(JSON.parse(out)).toEqual([
      { ref: 'default/w1', id: 'wv_1', number: 1, created: false },
      { ref: 'default/w2', id: 'wv_2', number: 2, created: true },
    ]);
  });

  test('registers nothing where anything in any file cannot be read, and names every place', async () => {
    const { url, received } = await serve();
    const good = write('good.py', flows);
    const bad = write(
      'bad.py',
      '@workflow.with_options(name=NAME,\n    routing=score(least(LOAD)))\ndef f(ctx): pass\n',
    );
    const syntax = write('syntax.py', 'def f(ctx)\n    pass\n');
    const { code, out, err } = await runCommand(['workflow', 'register', good, bad, syntax], { url, cwd });
    expect({ code, out, received }).toEqual({ code: 2, out: '', received: [] });
    expect(err.split('\n')).toEqual([
      'bad.py:1:29: name= is a text in quotes, not the name NAME; it has to be written out, because the file is not run. [OPTION_NOT_LITERAL]',
      'bad.py:2:25: least() takes a selector such as load() or metric("queue_depth"), not the name LOAD. [SELECTOR_MISSING]',
      'syntax.py:1:11: The line ends too early: this is not valid Python. [SYNTAX]',
      'Nothing was registered.',
    ]);
  });

  test('a workflow that two files declare', async () => {
    const { url, received } = await serve();
    const files = [write('a.py', '@workflow\ndef f(ctx): pass\n'), write('b.py', '\n@workflow\ndef f(ctx): pass\n')];
    const { code, err } = await runCommand(['workflow', 'register', ...files], { url, cwd });
    expect({ code, received }).toEqual({ code: 2, received: [] });
    expect(err).toContain('b.py:2:1: default/f is declared at a.py:1 already');
  });

  test('warnings are said and no hindrance', async () => {
    const { url } = await serve();
    const file = write('flows.py', '@workflow.with_options(affinity={})\ndef f(ctx): pass\n');
    const { code, err } = await runCommand(['workflow', 'register', file], { url, cwd });
    expect(code).toBe(0);
    expect(err).toContain('flows.py:1:33: warning: An empty label map requires nothing');
  });

  test('where the server refuses one, those before it are named', async () => {
    let asked = 0;
    const { url } = await serve({
      RegisterWorkflow: () => {
        asked += 1;
        if (asked === 2) return { error: { code: 'FORBIDDEN', message: 'Takes workflow:default:plain:register.' } };
        return {
          data: { registerWorkflow: { created: true, version: { id: 'wv_1', number: 1, workflowRef: 'ml/train' } } },
        };
      },
    });
    const ran = await runCommand(['workflow', 'register', write('flows.py', flows)], { url, cwd });
    expect(ran).toEqual({
      code: 4,
      out: '',
      err: 'Registered before the one that failed: ml/train.\nTakes workflow:default:plain:register.',
    });
  });

  test('--check needs no server', async () => {
    const file = write('flows.py', `\uFEFF${flows.replaceAll('\n', '\r\n')}`);
    const { code, out } = await runCommand(['workflow', 'register', file, '--check'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain('workflow     ml/train\n');
    expect(out).toContain('routing      score(least(load(), weight=2))');
    const asJson = await runCommand(['workflow', 'register', file, '--check', '--json'], { cwd });
    expect(JSON.parse(asJson.out)).toMatchObject([{ name: 'train', maxAttempts: 5 }, { name: 'plain' }]);
  });

  test.each([
    ['missing.py', undefined, 'There is no file missing.py.'],
    ['flows.ts', 'export {}', 'TypeScript and JavaScript workflows register themselves at worker start'],
    ['latin.py', Buffer.from([0x23, 0xe9]), 'The file latin.py is not UTF-8.'],
    ['empty.py', '', 'The file declares no workflow'],
  ])('%s is a usage error', async (name, content, message) => {
    if (content !== undefined) write(name, content);
    const { code, err } = await runCommand(['workflow', 'register', name], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
