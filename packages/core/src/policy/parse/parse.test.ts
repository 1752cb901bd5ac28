import { describe, expect, it } from 'vitest';
import { formatPolicy } from '../format.ts';
import type { PolicyStage } from '../spec.ts';
import { parsePolicyText } from './parse.ts';

function specOf(text: string, stage: PolicyStage = 'ROUTING'): unknown {
  const result = parsePolicyText(text, stage);
  return result.ok ? result.spec : result.problems;
}

function problemsOf(text: string, stage: PolicyStage = 'ROUTING'): string[] {
  const result = parsePolicyText(text, stage);
  return result.ok ? [] : result.problems.map((problem) => `${problem.code}@${text.slice(problem.from, problem.to)}`);
}

/** The spec of `score(prefer(label("k") == VALUE))`, reduced to its value. */
function valueOf(literal: string): unknown {
  const result = parsePolicyText(`score(prefer(label("k") == ${literal}))`, 'ROUTING');
  const term = result.ok ? result.spec.terms[0] : undefined;
  return term?.kind === 'prefer' ? term.value : 'refused';
}

describe('what a text may say', () => {
  it('compiles all kinds of score terms in source order', () => {
    const text = `routing.score(
      prefer(label("region") == input("region"), weight=10),  # locality
      (prefer)((60 > metric('temp'))),
      least(load(), weight=0x10,), most(resource("cpu_total")), sticky(weight=.5),
      flux.routing.when(load() < 5, sticky(weight=3.)),
      when(None != routing_input("probe"), prefer(service(input("model")))),
      prefer(meta_for("ok-", routing_input("d")) >= -5),
    )`;
    expect(specOf(text)).toEqual({
      terms: [
        { kind: 'prefer', selector: 'label:region', op: '==', value: { $input: 'region' }, weight: 10 },
        { kind: 'prefer', selector: 'metric:temp', op: '<', value: 60, weight: 1 },
        { kind: 'least', selector: 'load', weight: 16 },
        { kind: 'most', selector: 'resource:cpu_total', weight: 1 },
        { kind: 'sticky', weight: 0.5 },
        { kind: 'when', if: { selector: 'load', op: '<', value: 5 }, then: { kind: 'sticky', weight: 3 } },
        {
          kind: 'when',
          if: { routing_input: 'probe', op: '!=', value: null },
          then: {
            kind: 'prefer',
            selector: { kind: 'label', prefix: 'flux.service.', input: 'model' },
            op: '==',
            value: 'true',
            weight: 1,
          },
        },
        {
          kind: 'prefer',
          selector: { kind: 'meta', prefix: 'ok-', routing_input: 'd' },
          op: '>=',
          value: -5,
          weight: 1,
        },
      ],
    });
  });

  it('compiles requirements and label maps', () => {
    expect(
      specOf(
        'require("eu" == label("dc"), optional(service("bert")), when(meta("rank") > 3, label("os") != "w"))',
        'AFFINITY',
      ),
    ).toEqual([
      { kind: 'match', selector: 'label:dc', op: '==', value: 'eu' },
      { kind: 'match', selector: 'label:flux.service.bert', op: '==', value: 'true', optional: true },
      {
        kind: 'when',
        if: { selector: 'meta:rank', op: '>', value: 3 },
        then: { kind: 'match', selector: 'label:os', op: '!=', value: 'w' },
      },
    ]);
    expect(specOf('({"region": "eu" "-west", \'__proto__\': r"\\x"})', 'AFFINITY')).toEqual(
      JSON.parse('{"region": "eu-west", "__proto__": "\\\\x"}'),
    );
  });

  it('compiles resource requests', () => {
    const text = 'ResourceRequest(packages=["numpy >= 1.26", "torch"], cpu=1.5, memory="2.5 Gi", disk=0, gpu=1)';
    expect(specOf(text, 'REQUESTS')).toEqual({
      cpu: 1.5,
      memory: '2.5 Gi',
      disk: 0,
      gpu: 1,
      packages: ['numpy >= 1.26', 'torch'],
    });
    expect(specOf('ResourceRequest.with_memory(1_024)', 'REQUESTS')).toEqual({ memory: 1024 });
  });

  it('warns about what is legal, but odd', () => {
    for (const [text, stage] of [
      ['{}', 'AFFINITY'],
      ['{"": "x"}', 'AFFINITY'],
      ['ResourceRequest()', 'REQUESTS'],
    ] as const) {
      const result = parsePolicyText(text, stage);
      expect(result.ok && result.warnings.map((warning) => warning.severity)).toEqual(['WARNING']);
    }
  });

  it.each([
    ['0', 0],
    ['00', 0],
    ['1_000', 1000],
    ['0x_ff', 255],
    ['0XfF', 255],
    ['0o17', 15],
    ['0b1_0', 2],
    ['5.', 5],
    ['.5', 0.5],
    ['1_0.2_5e1_0', 10.25e10],
    ['01.5', 1.5],
    ['1e3', 1000],
    ['5E-324', 5e-324],
    ['-5', -5],
    ['+ 5', 5],
    ['-(5)', -5],
    ['-0.0', 0],
    ['9007199254740993467', Number('9007199254740993467')],
    ['True', true],
    ['(False)', false],
  ])('reads the number or boolean %s', (literal, value) => {
    expect(valueOf(literal)).toBe(value);
  });

  it.each([
    '01',
    '1__0',
    '1_',
    '0x',
    '0b2',
    '1e',
    '1j',
    '5and',
    '1e999',
    '--5',
    '-True',
    '~5',
    'None',
    '2*3',
    'b"x"',
    'f"x"',
    '"a" b"b"',
    'ur"x"',
    '[1]',
    'x',
    '...',
    '"\\x4"',
    '"\\N{DASH}"',
    '"\\U00110000"',
    '"\\ud83d"',
    '"\\0"',
  ])('refuses %s as a value', (literal) => {
    expect(valueOf(literal)).toBe('refused');
  });

  it.each([
    [`'it\\'s "x"'`, `it's "x"`],
    ['"a" r"\\n" u"c"', 'a\\nc'],
    ['"" \'\' """"""', ''],
    ['""r\'a""\'', 'a""'],
    ['"""a\r\nb\rc"""', 'a\nb\nc'],
    ['"a\\\r\nb"', 'ab'],
    ['"\\101\\x41\\u0041\\U00000041\\a"', 'AAAA\u0007'],
    ['"\\q\\8"', '\\q\\8'],
    ['"\\ud83d\\ude80"', '🚀'],
    ['R"\\""', '\\"'],
    ['"# no comment"', '# no comment'],
  ])('reads the string %s', (literal, value) => {
    expect(valueOf(literal)).toBe(value);
  });

  it('takes any layout', () => {
    const wanted = specOf('score(sticky(), least(load()))');
    for (const text of [
      '\n\n   score ( sticky ( ) , least ( load ( ) ) , )\n',
      'score\n(sticky(),\n# a, (b) "c"\n\tleast(load()))# end',
      'score(\\\n  sticky(), least(((load))()))',
      '((routing).score(routing . sticky(), flux.routing\n.least(load())))',
    ]) {
      expect(specOf(text), text).toEqual(wanted);
    }
  });
});

describe('what is refused', () => {
  it('names all problems at once, each with its place', () => {
    const text = `score(
  prefer(label("a") == None, weight=0),
  Prefer(1),
  least(load() weight=3),
  sticky(weight=1, weight=2, heavy=True),
)`;
    const result = parsePolicyText(text, 'ROUTING');
    expect(problemsOf(text)).toEqual([
      'VALUE_INVALID@None',
      'WEIGHT_NOT_POSITIVE@0',
      'UNKNOWN_TERM@Prefer(1)',
      'SYNTAX@weight',
      'KEYWORD_REPEATED@weight=2',
      'KEYWORD_UNKNOWN@heavy',
    ]);
    expect(result.ok || result.problems.map(({ line, column }) => `${line}:${column}`)).toEqual([
      '2:24',
      '2:37',
      '3:3',
      '4:16',
      '5:20',
      '5:30',
    ]);
  });

  it.each([
    ['"x".score(sticky())', 'NOT_A_POLICY'],
    ['x[0].score(sticky())', 'NOT_A_POLICY'],
    ['foo.score(sticky())', 'NOT_A_POLICY'],
    ['flux.score(sticky())', 'NOT_A_POLICY'],
    ['score(row.prefer(label("a") == 1))', 'UNKNOWN_TERM'],
    ['score(prefer(foo().label("a") == 1))', 'SELECTOR_MISSING'],
    ['score(sticky(), name="x")', 'KEYWORD_UNKNOWN'],
    ['score(prefer(label("a", default="x") == 1))', 'KEYWORD_UNKNOWN'],
    ['score(prefer(service("a", required=True)))', 'KEYWORD_UNKNOWN'],
    ['score(prefer(label("a", **opts) == 1))', 'ARGUMENTS'],
    ['score(**x)', 'UNKNOWN_TERM'],
    ['score(sticky(weight=True))', 'WEIGHT_INVALID'],
    ['score(sticky(weight="3"))', 'WEIGHT_INVALID'],
    ['score(sticky(weight=+3))', 'WEIGHT_INVALID'],
    ['score(sticky(weight=-3))', 'WEIGHT_NOT_POSITIVE'],
    ['score(sticky(weight=1.0001e12))', 'WEIGHT_TOO_LARGE'],
    ['score(sticky(weight=1e-400))', 'WEIGHT_NOT_POSITIVE'],
    ['score(prefer(metric("a") < 1e999))', 'NUMBER_TOO_LARGE'],
    ['score(prefer(meta("a\\n") == 1))', 'KEY_INVALID'],
    ['score(prefer(service("a\\n")))', 'SERVICE_INVALID'],
    ['score(when(meta("a") == None, sticky()))', 'CONDITION_INVALID'],
    ['score(when(input("a") < 3, sticky()))', 'OPERATOR_NOT_ALLOWED'],
    ['score(sticky(weight=1), x := 3)', 'UNKNOWN_TERM'],
    ['score(x=1, sticky())', 'KEYWORD_UNKNOWN ARGUMENT_ORDER'],
    ['score(sticky()),', 'NOT_A_POLICY'],
    ['score(sticky());', 'CHARACTER_UNEXPECTED'],
    ['score(sticky())) (score(sticky())', 'BRACKET_UNMATCHED'],
    ['score(“a”)', 'CHARACTER_UNEXPECTED'],
    ['\ufeffscore(sticky())', 'CHARACTER_UNEXPECTED'],
    ['score(sticky()) # \0', 'CHARACTER_UNEXPECTED'],
    ['', 'TEXT_EMPTY'],
    ['# only a comment', 'TEXT_EMPTY'],
  ])('refuses %s', (text, codes) => {
    expect(problemsOf(text).map((problem) => problem.split('@')[0])).toEqual(codes.split(' '));
  });

  it.each([
    ['None', 'NOT_AN_AFFINITY'],
    ['require(label("a") == 1) or x', 'NOT_AN_AFFINITY'],
    ['score(sticky())', 'NOT_AN_AFFINITY'],
    ['{"a": "1", "a": "2"}', 'MAP_KEY_REPEATED'],
    ['{"a": 1, 2: "b", **x}', 'MAP_VALUE_INVALID MAP_KEY_INVALID MAP_KEY_INVALID'],
    ['{"a": f"x", "b": -1}', 'MAP_VALUE_INVALID MAP_VALUE_INVALID'],
    ['{"a"}', 'NOT_AN_AFFINITY'],
    ['require(label("a") < 1)', 'OPERATOR_NOT_ALLOWED'],
    ['require(when(load() < 1, label("a") == 1))', 'CONDITION_INVALID'],
    ['require(optional(when(input("a") == 1, label("a") == 1)))', 'UNKNOWN_TERM'],
    ['require(when(input("a") == 1, optional(label("a") == 1)))', 'UNKNOWN_TERM'],
  ])('refuses %s as an affinity', (text, codes) => {
    expect(problemsOf(text, 'AFFINITY').map((problem) => problem.split('@')[0])).toEqual(codes.split(' '));
  });

  it.each([
    'None',
    'req(cpu=1)',
    'domain.ResourceRequest(cpu=1)',
    'ResourceRequest(1, 2)',
    'ResourceRequest(cpu=N)',
    'ResourceRequest(cpu=-5)',
    'ResourceRequest(cpu="4")',
    'ResourceRequest(cpu=True)',
    'ResourceRequest(cpu=None)',
    'ResourceRequest(cpu=2*8)',
    'ResourceRequest(cpu=1, cpu=2)',
    'ResourceRequest(cpus=1)',
    'ResourceRequest(gpu=0.5)',
    'ResourceRequest(memory="4GB")',
    'ResourceRequest(memory="lots")',
    'ResourceRequest(memory="1.5")',
    'ResourceRequest(memory=f"{x}Gi")',
    'ResourceRequest(packages=("numpy",))',
    'ResourceRequest(packages="numpy")',
    'ResourceRequest(packages=["a", X])',
    'ResourceRequest(packages=["a", ["b"]])',
    'ResourceRequest(packages=["numpy~=1.0"])',
    'ResourceRequest(packages=["numpy<=2"])',
    'ResourceRequest(packages=["numpy[extra]"])',
    'ResourceRequest(packages=["numpy===1.0"])',
    'ResourceRequest.with_gpu(gpu=6)',
    'ResourceRequest.with_cores(1)',
    'ResourceRequest.with_gpu(1, 2)',
    'ResourceRequest.with_gpu(1).with_cpu(1)',
  ])('refuses %s as requests', (text) => {
    expect(problemsOf(text, 'REQUESTS').length).toBeGreaterThan(0);
  });

  it('bounds the number of terms, labels and packages', () => {
    const many = (item: string, count: number): string => Array.from({ length: count }, () => item).join(',');
    expect(problemsOf(`score(${many('sticky()', 64)})`)).toEqual([]);
    expect(problemsOf(`score(${many('sticky()', 65)})`)).toEqual(['TOO_MANY_TERMS@sticky()']);
    expect(problemsOf(`require(${many('label("a")==1', 65)})`, 'AFFINITY')).toEqual(['TOO_MANY_TERMS@label("a")==1']);
    const labels = Array.from({ length: 65 }, (_, index) => `"l${index}": "x"`).join(',');
    expect(problemsOf(`{${labels}}`, 'AFFINITY')).toEqual(['TOO_MANY_TERMS@"l64"']);
    expect(problemsOf(`ResourceRequest(packages=[${many('"a"', 65)}])`, 'REQUESTS')).toEqual(['TOO_MANY_PACKAGES@"a"']);
  });

  it('bounds the text, in bytes, as typed and in canonical form', () => {
    const padded = (bytes: number): string => `score(sticky())${' '.repeat(bytes - 15)}`;
    expect(problemsOf(padded(16_384))).toEqual([]);
    expect(problemsOf(padded(16_385))).toHaveLength(1);
    expect(problemsOf(`score(prefer(label("${'é'.repeat(8_180)}") == 1))`)).toHaveLength(1);
    expect(problemsOf(`score(prefer(label(r'${'"'.repeat(9_000)}') == 1))`)).toHaveLength(1);
  });

  it.each([
    '('.repeat(16_000),
    `score(${'-'.repeat(16_000)}1)`,
    `score(a${'()'.repeat(8_000)})`,
    `score(${'a.'.repeat(8_000)}b)`,
    `score(${'1<'.repeat(8_000)}1)`,
    `${'('.repeat(8_000)}score${')'.repeat(8_000)}`,
    `score(${'lambda:'.repeat(2_000)}1)`,
    `score(${'"" '.repeat(5_000)})`,
    `score(${', '.repeat(8_000)})`,
    `{${'a:b,'.repeat(4_000)}}`,
    `score(prefer(label_for("${'._-'.repeat(5_000)}x!", input("a")) == 1))`,
    `${'f(a, '.repeat(29)}${'f()'.repeat(1_000)}${')'.repeat(29)}`,
  ])('answers hostile text without running out of stack (%#)', (text) => {
    for (const stage of ['ROUTING', 'AFFINITY', 'REQUESTS'] as const) expect(problemsOf(text, stage)).not.toEqual([]);
  });
});

describe('the canonical text', () => {
  it('is one line where it fits, else one term a line', () => {
    expect(formatPolicy(specOf('score(sticky(weight=2.50),least( load( ) ))'), 'ROUTING')).toBe(
      'score(sticky(weight=2.5), least(load()))',
    );
    const long =
      'score(prefer(label("region") == input("region"), weight=10), when(load() < 5, least(metric("queue_depth"))))';
    expect(formatPolicy(specOf(long), 'ROUTING')).toBe(
      'score(\n    prefer(label("region") == input("region"), weight=10),\n    when(load() < 5, least(metric("queue_depth"))),\n)',
    );
  });
});
