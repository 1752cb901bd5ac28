import type { Issue } from '../lib/errors.ts';
import { utf8Length } from '../lib/text.ts';
import { TermChecker, withoutSignedZero } from './check-terms.ts';
import { formatPolicy } from './format.ts';
import type { StageSpecs } from './parse/parse.ts';
import { MAX_PACKAGES, checkAmount, checkMemory, checkPackage } from './requests-rules.ts';
import { MAX_TERMS, MAX_TEXT_BYTES, checkText } from './rules.ts';
import type { AffinitySpec, PolicySpec, PolicyStage, RequestsSpec, RequireTerm, ScoreTerm } from './spec.ts';
import { isRecord, own } from './values.ts';

export type CheckedSpec<Spec> =
  /** The spec, rebuilt from known parts only. */
  { readonly ok: true; readonly spec: Spec } | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks a value as the compiled form of one stage, by the same rules as its text, and names all issues at once, each with
 * its path, e.g. `terms.2.then.weight` (rulings 8 and 9). Never throws.
 */
export function checkSpec<Stage extends PolicyStage>(value: unknown, stage: Stage): CheckedSpec<StageSpecs[Stage]> {
  const checker = new TermChecker(stage === 'ROUTING' ? 'score' : 'require');
  const spec = CHECKS[stage](checker, value);
  if (spec !== null && checker.issues.length === 0) {
    const size = utf8Length(formatPolicy(spec, stage));
    if (size <= MAX_TEXT_BYTES) return { ok: true, spec };
    checker.add('', 'TEXT_TOO_LONG', `Written as text this has ${size} bytes; at most ${MAX_TEXT_BYTES} are allowed.`);
  }
  return { ok: false, issues: checker.issues };
}

const CHECKS: { readonly [Stage in PolicyStage]: (checker: TermChecker, value: unknown) => StageSpecs[Stage] | null } =
  {
    ROUTING: checkPolicy,
    AFFINITY: checkAffinity,
    REQUESTS: checkRequests,
  };

function checkPolicy(checker: TermChecker, value: unknown): PolicySpec | null {
  const record = checker.record(value, '', 'A routing policy is an object with terms', ['terms']);
  if (record === null) return null;
  const terms = checker.list<ScoreTerm>(own(record, 'terms'), 'terms', (term, path) => checker.scoreTerm(term, path));
  return terms === null ? null : { terms };
}

function checkAffinity(checker: TermChecker, value: unknown): AffinitySpec | null {
  if (Array.isArray(value))
    return checker.list<RequireTerm>(value, '', (term, path) => checker.requireTerm(term, path));
  if (!isRecord(value)) return checker.add('', 'NOT_AN_AFFINITY', 'An affinity is a list of terms or a label map.');
  const entries = Object.entries(value);
  if (entries.length > MAX_TERMS) checker.add('', 'TOO_MANY_TERMS', `A label map takes at most ${MAX_TERMS} labels.`);
  const labels: [string, string][] = [];
  for (const [label, wanted] of entries.slice(0, MAX_TERMS)) {
    if (typeof wanted !== 'string') checker.add(label, 'MAP_VALUE_INVALID', 'Labels are texts.');
    else if (checker.keeps(label, checkText(label) ?? checkText(wanted))) labels.push([label, wanted]);
  }
  return Object.fromEntries(labels);
}

function checkRequests(checker: TermChecker, value: unknown): RequestsSpec | null {
  const fields = ['cpu', 'memory', 'disk', 'gpu', 'packages'];
  const record = checker.record(value, '', 'Resource requests are an object', fields);
  if (record === null) return null;
  const spec: RequestsSpec = {};
  for (const field of ['cpu', 'disk', 'gpu'] as const) {
    const amount = own(record, field) ?? null;
    if (amount !== null && checker.keeps(field, checkAmount(field, amount)))
      spec[field] = withoutSignedZero(Number(amount));
  }
  const memory = own(record, 'memory') ?? null;
  if (memory !== null && checker.keeps('memory', checkMemory(memory))) {
    spec.memory = typeof memory === 'string' ? memory : withoutSignedZero(Number(memory));
  }
  const packages = own(record, 'packages') ?? null;
  if (Array.isArray(packages)) spec.packages = checkPackages(checker, packages);
  else if (packages !== null) checker.add('packages', 'PACKAGES_INVALID', 'packages takes a list of texts.');
  return spec;
}

function checkPackages(checker: TermChecker, packages: readonly unknown[]): string[] {
  if (packages.length > MAX_PACKAGES) {
    checker.add('packages', 'TOO_MANY_PACKAGES', `packages takes at most ${MAX_PACKAGES} packages.`);
  }
  const texts: string[] = [];
  for (const [index, item] of packages.slice(0, MAX_PACKAGES).entries()) {
    if (checker.keeps(`packages.${index}`, checkPackage(item)) && typeof item === 'string') texts.push(item);
  }
  return texts;
}
