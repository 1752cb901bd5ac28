import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPythonWorkflows } from '../src/policy/python/read-workflows.ts';
import { sameJson } from './same-json.ts';

interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly expected: { readonly ok: boolean; readonly spec?: unknown };
}

function vectors(name: string): Vector[] {
  const text = readFileSync(new URL(`./vectors/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Vector);
}

// As an option, None is what an option is that is not given: the one text that is refused by itself and not in a file.
const all = [...vectors('extraction'), ...vectors('requests-extraction')].filter(({ text }) => text !== 'None');

test('there are vectors of both outcomes', () => {
  expect(new Set(all.map(({ expected }) => expected.ok))).toEqual(new Set([true, false]));
});

/** The same text as an option of a workflow in a file, under the imports of the form that a test is about. */
function fileOf({ kind, text }: Vector, imports: string, receiver: string): string {
  const option = kind === 'routing' ? 'routing' : kind === 'requests' ? 'requests' : 'affinity';
  return `${imports}\n\n\n@${receiver}.with_options(name="x",\n    ${option}=${text},\n)\nasync def f(ctx):\n    ...\n`;
}

test.each([
  ['by name', 'from flux import workflow\nfrom flux.routing import *', 'workflow'],
  ['by module', 'import flux\nfrom flux import routing', 'flux.workflow'],
  ['without imports', '"""Nothing is imported."""', 'workflow'],
])('the policies of the vectors read the same in a file, %s', (_, imports, receiver) => {
  const wrong: string[] = [];
  for (const vector of all) {
    const read = readPythonWorkflows(fileOf(vector, imports, receiver));
    const found = read.ok ? read.workflows[0] : undefined;
    const spec = found?.[vector.kind === 'routing' ? 'routing' : vector.kind === 'requests' ? 'requests' : 'affinity'];
    const right = vector.expected.ok ? found !== undefined && sameJson(spec, vector.expected.spec) : !read.ok;
    if (!right) wrong.push(`${vector.id}: ${vector.text}: ${JSON.stringify(read)}`);
  }
  expect(wrong).toEqual([]);
});
