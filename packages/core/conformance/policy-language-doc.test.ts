import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePolicyText } from '../src/policy/parse/parse.ts';

const DOCUMENT = readFileSync(new URL('../../../docs/policy-language.md', import.meta.url), 'utf8');
const EXAMPLES = [...DOCUMENT.matchAll(/```python\n([^]*?)```/g)].map((match) => match[1] ?? '');

describe('docs/policy-language.md', () => {
  it.each(['ROUTING', 'AFFINITY', 'REQUESTS'] as const)('has examples that compile (%s)', (stage) => {
    const compiled = EXAMPLES.filter((example) => parsePolicyText(example, stage).ok);
    expect(compiled).toHaveLength(stage === 'AFFINITY' ? 2 : 1);
  });

  it('has no other examples', () => {
    expect(EXAMPLES).toHaveLength(4);
  });
});
