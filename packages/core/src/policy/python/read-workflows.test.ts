import { describe, expect, test } from 'vitest';
import { formatPolicy } from '../format.ts';
import { readPythonWorkflows } from './read-workflows.ts';

/** Workflows in short: name, and what else was said, policies in the policy language. */
function read(text: string) {
  const file = readPythonWorkflows(text);
  if (!file.ok)
    throw new Error(file.problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n'));
  return file.workflows.map(({ namespace, name, routing, affinity, requests, line, ...rest }) => {
    const said = Object.entries(rest).filter(([, value]) => value !== null);
    return {
      ref: `${namespace}/${name}`,
      line,
      ...(routing === null ? {} : { routing: formatPolicy(routing, 'ROUTING') }),
      ...(affinity === null ? {} : { affinity: formatPolicy(affinity, 'AFFINITY') }),
      ...(requests === null ? {} : { requests: formatPolicy(requests, 'REQUESTS') }),
      ...Object.fromEntries(said),
    };
  });
}

const wanted = { routing: 'score(least(load()))' };

describe('declarations', () => {
  test('the example of the routing guide', () => {
    const text = `from flux import ExecutionContext, workflow
from flux.routing import score, prefer, least, most, sticky, label, metric, resource, load, input


@workflow.with_options(
    routing=score(
        prefer(label("region") == input("region"), weight=10),  # payload locality
        prefer(metric("temp") < 60, weight=2),                   # threshold preference
        least(metric("queue_depth"), weight=5),                  # minimize a worker metric
        most(resource("memory_available")),                      # maximize a resource field
        sticky(weight=3),                                        # opt the relay hint into the score
        least(load()),                                           # built-in: active executions
    ),
)
async def train(ctx: ExecutionContext[dict]):
    ...
`;
    const [train, ...more] = read(text);
    expect(more).toEqual([]);
    expect(train).toMatchObject({ ref: 'default/train', line: 5 });
    expect(train?.routing).toContain('prefer(label("region") == input("region"), weight=10)');
    expect(train?.routing).toContain('least(load())');
  });

  test('every option, several workflows, and the name of the function where none is given', () => {
    const text = `
from flux import workflow
from flux.domain import ResourceRequest

@workflow.with_options(
    name="classify", namespace='vision', description="""Says what
it sees.""",
    affinity={"region": "eu"},
    requests=ResourceRequest(cpu=2, memory="8Gi", packages=["torch>=2.6"]),
    runner="subprocess", max_attempts=5, timeout_seconds=60)
def f(ctx): pass

@workflow
async def plain(ctx): pass

@workflow.with_options()
async def empty(ctx): pass

@workflow.with_options(name=None, routing=None, affinity=None, requests=None, runner=None, timeout_seconds=None)
async def nothing(ctx): pass
`;
    expect(read(text)).toEqual([
      {
        ref: 'vision/classify',
        line: 5,
        description: 'Says what\nit sees.',
        affinity: '{"region": "eu"}',
        requests: 'ResourceRequest(cpu=2, memory="8Gi", packages=["torch>=2.6"])',
        runner: 'subprocess',
        maxAttempts: 5,
        timeoutSeconds: 60,
      },
      { ref: 'default/plain', line: 13 },
      { ref: 'default/empty', line: 16 },
      { ref: 'default/nothing', line: 19 },
    ]);
  });

  test.each([
    ['from flux.routing import score as s, least as l, load', 's(l(load()))'],
    ['import flux.routing as r', 'r.score(r.least(r.load()))'],
    ['import flux.routing', 'flux.routing.score(flux.routing.least(flux.routing.load()))'],
    ['from flux import routing', 'routing.score(routing.least(routing.load()))'],
    ['from flux import routing as rt', 'rt.score(rt.least(rt.load()))'],
    ['from flux.routing import *', 'score(least(load()))'],
    ['from muster.routing import (\n    score as s,  # the root\n    least,\n    load,\n)', 's(least(load()))'],
    [
      'try:\n    from flux.routing import score\nexcept ImportError:\n    from muster.routing import score',
      'score(least(load()))',
    ],
    ['from .vocabulary import score, least as smallest, load', 'score(smallest(load()))'],
    ['', 'score(least(load()))'],
    ['', '(\n        score(\n            (least(load())),\n        )\n    )'],
    ['', 'score( \\\n least(load()) )'],
  ])('imports: %s', (imports, routing) => {
    expect(read(`${imports}\n@workflow.with_options(routing=${routing})\ndef f(ctx): pass\n`)[0]).toMatchObject(wanted);
  });

  test.each([
    ['from flux import workflow as w', '@w.with_options(name="x")'],
    ['from flux import workflow as w', '@w'],
    ['import flux', '@flux.workflow'],
    ['import flux as f', '@f.workflow.with_options(name="x")'],
    ['from flux.workflow import workflow', '@workflow'],
    ['from mine import workflow', '@workflow.with_options(name="x")'],
    ['', '@ workflow . with_options (name="x")'],
    ['', '@workflow  # the decorator'],
    ['', '@logged\n@workflow\n@retried(times=3)\n@handlers[0].add'],
    ['', '@workflow.with_options(name="x",)\n\n# between\n'],
  ])('decorators: %s; %s', (imports, decorator) => {
    const name = decorator.includes('name=') ? 'x' : 'f';
    expect(read(`${imports}\n${decorator}\nasync def f(ctx): pass`)).toMatchObject([{ ref: `default/${name}` }]);
  });

  test('what the file sets further down does not matter further up', () => {
    const text = `from flux.routing import score, least, load
@workflow.with_options(routing=score(least(load())))
async def load(ctx): pass
score = 1
`;
    expect(read(text)).toEqual([{ ref: 'default/load', line: 2, ...wanted }]);
  });

  test('line ends, a byte order mark, and letters of all kinds', () => {
    const text = `# ☃ 𝒳\nfrom flux import workflow\n\n@workflow.with_options(\n    name="x",\n    affinity={"标签": "Ω𝒳"},\n)\nasync def 训练(ctx):\n    名 = f"{'é'}"\n`;
    const found = [{ ref: 'default/x', line: 4, affinity: '{"标签": "Ω𝒳"}' }];
    expect(read(text)).toEqual(found);
    expect(read(text.replaceAll('\n', '\r\n'))).toEqual(found);
    expect(read(text.replaceAll('\n', '\r'))).toEqual(found);
    expect(read(`\uFEFF${text}`)).toEqual(found);
  });

  test('what only looks like a declaration is none', () => {
    const text = `"""
@workflow
def in_a_docstring(ctx): pass
"""
# @workflow
# def in_a_comment(ctx): pass
from flux import workflow
from temporalio import workflow as temporal
source = '''
@workflow.with_options(name="in a text")
def f(ctx): pass
'''

@temporal.defn
class Other:
    @temporal.run
    async def run(self): pass

@app.workflow
def of_somebody(ctx): pass

def helper(ctx: workflow) -> bool:
    return isinstance(ctx, workflow) and ctx.workflow()

@workflow
def real(ctx):
    @cached
    def inner(): pass
    return inner
`;
    expect(read(text)).toEqual([{ ref: 'default/real', line: 25 }]);
  });

  test('Python of every age stands around them', () => {
    const text = `
from flux import workflow
x: int = 1_000 + 0xFF + 1. + 1.e3
def generator():
    got = yield
    await_ = (yield)
    return [(yield), *range(3)]
type Alias[T] = list[T]
class C[T: int](Base, metaclass=M): pass
def pos(a, /, b, *, c: int = 3, **kw) -> None: ...
with (open("a") as a, open("b") as b): pass
with open("a") as (c, d), open("b") as self.e: pass
match command.split():
    case [C(), *rest] if rest: pass
    case {"k": v, **others} | Point(x=0) as p: pass
    case _: pass
try: pass
except* (A, B) as e: pass
for k, *v in pairs: pass
print(f"{x!r:>{10}} {'a' if x else "b"} {{}} {d["k"]:%H:%M}", rb'\\x', f'''{
    x
}''')
if (n := len(a)) > 1: pass
lam = lambda a, /, *b, c=1, **d: (a, b)
async def g():
    async with x() as y, z(): pass
    async for i in aiter(): await i
    return [i async for i in y if await i]

@workflow
async def f(ctx): pass
`;
    expect(read(text)).toEqual([{ ref: 'default/f', line: 30 }]);
  });
});

test.each(['# -*- coding: utf-8 -*-', '#!/usr/bin/env python3\n# coding=UTF8', 'x = 1\ny = 2\n# coding: latin-1'])(
  'a file that says that it is UTF-8, or says so too late: %j',
  (head) => {
    expect(read(`${head}\n@workflow\ndef f(ctx): pass`)).toMatchObject([{ ref: 'default/f' }]);
  },
);

test('warnings come along', () => {
  const file = readPythonWorkflows('@workflow.with_options(affinity={})\ndef f(ctx): pass\n');
  expect(file).toMatchObject({ ok: true, warnings: [{ code: 'MAP_EMPTY', line: 1, column: 33 }] });
});

test('a long file', () => {
  const one = (index: number) =>
    `@workflow.with_options(name="w${index}", routing=score(least(load())))\ndef f${index}(ctx): pass\n`;
  const text = Array.from({ length: 500 }, (_, index) => one(index)).join('');
  expect(read(text)).toHaveLength(500);
}, 60_000);
