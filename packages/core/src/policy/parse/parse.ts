import { utf8Length } from '../../lib/text.ts';
import { formatPolicy } from '../format.ts';
import { MAX_TEXT_BYTES } from '../rules.ts';
import type { AffinitySpec, PolicySpec, PolicyStage, RequestsSpec } from '../spec.ts';
import { type Expression, parseExpression } from './expression.ts';
import { type PolicyProblem, ProblemList, type Span } from './problems.ts';
import { readAffinity } from './read-affinity.ts';
import { readRequests } from './read-requests.ts';
import { readScore } from './read-score.ts';

/** The compiled form of each stage's text. */
export interface StageSpecs {
  ROUTING: PolicySpec;
  AFFINITY: AffinitySpec;
  REQUESTS: RequestsSpec;
}

export type ParsedPolicy<Spec> =
  /** `warnings` has what is legal, but odd. */
  | { readonly ok: true; readonly spec: Spec; readonly warnings: readonly PolicyProblem[] }
  /** At least one of the problems is an error. */
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

const READERS: { readonly [Stage in PolicyStage]: Reader<StageSpecs[Stage]> } = {
  ROUTING: readScore,
  AFFINITY: readAffinity,
  REQUESTS: readRequests,
};
type Reader<Spec> = (expression: Expression, problems: ProblemList) => Spec | null;

/**
 * Compiles a policy text (a Python expression: `score(...)`, `require(...)` or a label map, `ResourceRequest(...)`) to its
 * spec, or names all its problems at once, each with its place in the text (rulings 8 and 9; `docs/policy-language.md`).
 * Never throws, and takes time proportional to the text, which may have at most 16 KiB.
 */
export function parsePolicyText<Stage extends PolicyStage>(
  text: string,
  stage: Stage,
): ParsedPolicy<StageSpecs[Stage]> {
  const problems = new ProblemList(text);
  const spec = readText(text, stage, READERS[stage], problems);
  if (spec === null || problems.hasErrors) return { ok: false, problems: problems.inOrder() };
  return { ok: true, spec, warnings: problems.inOrder() };
}

/**
 * The same for a policy that is a part of a longer text, such as a source file: problems go to the list of the whole text.
 * `prepare` sees the expression before it is read, e.g. to resolve names. null where there is a problem.
 */
export function parsePolicyPart<Stage extends PolicyStage>(
  whole: string,
  part: Span,
  stage: Stage,
  problems: ProblemList,
  prepare: (expression: Expression) => Expression,
): StageSpecs[Stage] | null {
  const text = whole.slice(part.from, part.to);
  const own = new ProblemList(text);
  const read = (expression: Expression) => READERS[stage](prepare(expression), own);
  const spec = readText(text, stage, read, own);
  problems.addPart(own, part.from);
  return own.hasErrors ? null : spec;
}

function readText<Spec>(text: string, stage: PolicyStage, read: Reader<Spec>, problems: ProblemList): Spec | null {
  const whole = { from: 0, to: text.length };
  const size = utf8Length(text);
  if (size > MAX_TEXT_BYTES) {
    problems.error(whole, 'TEXT_TOO_LONG', `The text has ${size} bytes; at most ${MAX_TEXT_BYTES} are allowed.`);
    return null;
  }
  const expression = parseExpression(text, problems);
  const spec = expression === null ? null : read(expression, problems);
  if (spec !== null && !problems.hasErrors) {
    const formatted = utf8Length(formatPolicy(spec, stage));
    if (formatted > MAX_TEXT_BYTES) {
      const message = `In its canonical form the text has ${formatted} bytes; at most ${MAX_TEXT_BYTES} are allowed.`;
      problems.error(whole, 'TEXT_TOO_LONG', message);
    }
  }
  return spec;
}
