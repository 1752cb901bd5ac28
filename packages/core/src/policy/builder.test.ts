import { describe, expect, it } from 'vitest';
import { MusterError } from '../lib/errors.ts';
import {
  input,
  label,
  labelFor,
  least,
  load,
  meta,
  metaFor,
  metric,
  most,
  optional,
  prefer,
  require,
  resource,
  resourceRequest,
  routingInput,
  score,
  service,
  sticky,
  utilization,
  when,
} from './builder.ts';
import { parsePolicyText } from './parse/parse.ts';
import type { PolicyStage } from './spec.ts';

function compiled(text: string, stage: PolicyStage): unknown {
  const result = parsePolicyText(text, stage);
  return result.ok ? result.spec : result.problems;
}

function errorOf(build: () => unknown): MusterError | null {
  try {
    build();
    return null;
  } catch (error) {
    return error instanceof MusterError ? error : null;
  }
}

describe('the builder', () => {
  it('gives the spec of the text for a policy', () => {
    const built = score(
      prefer(label('region').eq(input('region')), { weight: 10 }),
      prefer(metric('temp').lt(60)),
      prefer(resource('cpu_total').ge(-1), { weight: 0.5 }),
      prefer(labelFor('cache.', routingInput('d')).ne('true')),
      prefer(metaFor('ok-', input('a')).le(3)),
      prefer(service('bert-base')),
      prefer(service(input('model')), { weight: 2 }),
      least(load()),
      most(meta('rank'), { weight: 3 }),
      sticky(),
      when(input('fast').eq(true), least(load(), { weight: 10 })),
      when(routingInput('probe').ne(null), sticky()),
      when(utilization().lt(0.8), sticky({ weight: 3 })),
      when(meta('tier').gt('a'), most(metric('x'))),
    );
    const text = `score(
      prefer(label("region") == input("region"), weight=10),
      prefer(metric("temp") < 60),
      prefer(resource("cpu_total") >= -1, weight=0.5),
      prefer(label_for("cache.", routing_input("d")) != "true"),
      prefer(meta_for("ok-", input("a")) <= 3),
      prefer(service("bert-base")),
      prefer(service(input("model")), weight=2),
      least(load()),
      most(meta("rank"), weight=3),
      sticky(),
      when(input("fast") == True, least(load(), weight=10)),
      when(routing_input("probe") != None, sticky()),
      when(utilization() < 0.8, sticky(weight=3)),
      when(meta("tier") > "a", most(metric("x"))),
    )`;
    expect(built).toEqual(compiled(text, 'ROUTING'));
  });

  it('gives the spec of the text for an affinity', () => {
    const built = require(label('dc').eq(input('dc')), service('bert'), optional(
      label('cohort').eq(routingInput('cohort')),
    ), when(metric('free').gt(3), meta('rank').ge(2)));
    const text = `require(label("dc") == input("dc"), service("bert"), optional(label("cohort") == routing_input("cohort")),
      when(metric("free") > 3, meta("rank") >= 2))`;
    expect(built).toEqual(compiled(text, 'AFFINITY'));
  });

  it('gives the spec of the text for requests', () => {
    expect(resourceRequest({ cpu: 2, memory: '8Gi', packages: ['numpy>=1.26'] })).toEqual(
      compiled('ResourceRequest(cpu=2, memory="8Gi", packages=["numpy>=1.26"])', 'REQUESTS'),
    );
  });

  it('refuses what the text refuses, all at once', () => {
    const error = errorOf(() => score(sticky({ weight: 0 }), least(meta('-a')), prefer(label('').eq(1))));
    expect(error?.code).toBe('POLICY_INVALID');
    expect(error?.issues.map((issue) => `${issue.path} ${issue.code}`)).toEqual([
      'terms.0.weight WEIGHT_NOT_POSITIVE',
      'terms.1.selector KEY_INVALID',
      'terms.2.selector KEY_EMPTY',
    ]);
    expect(error?.message).toContain('terms.0.weight: The weight must be above 0');
  });

  it.each([
    ['no terms', () => score()],
    ['no requirements', () => require()],
    ['an ordered label', () => require(label('a').lt(1))],
    ['a metric requirement', () => require(metric('a').eq(1))],
    ['a gate on load', () => require(when(load().lt(3), label('a').eq(1)))],
    ['a bad service', () => service('Not_Valid')],
    ['an unknown field', () => score(least(resource('gpu_flops')))],
    ['an infinite weight', () => score(sticky({ weight: Number.POSITIVE_INFINITY }))],
    ['a dynamic condition', () => score(when(labelFor('a.', input('x')).eq(1), sticky()))],
    ['a condition on an input value', () => score(when(meta('a').eq(input('x')), sticky()))],
    ['a nested when', () => score(when(load().lt(1), when(load().lt(1), sticky())))],
    ['a bare selector', () => prefer(Reflect.apply(label, null, ['a']) as never)],
    ['a string for a selector', () => least('load' as never)],
    ['a ranked dynamic key', () => score(least(labelFor('a.', input('x')) as never))],
    ['a term of the other stage', () => require(sticky() as never)],
    ['a policy term from nowhere', () => score({ kind: 'sticky' } as never)],
    ['a prefix without input', () => labelFor('a.', 'x' as never)],
    ['junk as a service', () => service(3 as never)],
    ['junk as a value', () => score(prefer(label('a').eq([1] as never)))],
    ['negative cpu', () => resourceRequest({ cpu: -1 })],
  ])('throws the typed error for %s', (_, build) => {
    expect(errorOf(build)?.code).toBe('POLICY_INVALID');
  });
});
