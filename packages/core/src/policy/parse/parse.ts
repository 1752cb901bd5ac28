import { utf8Length } from '../../lib/text.ts';
import { formatPolicy } from '../format.ts';
import { MAX_TEXT_BYTES } from '../rules.ts';
import type { AffinitySpec, PolicySpec, PolicyStage, RequestsSpec } from '../spec.ts';
import { parseExpression } from './expression.ts';
import { type PolicyProblem, ProblemList } from './problems.ts';
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
type Reader<Spec> = (expression: NonNullable<ReturnType<typeof parseExpression>>, problems: ProblemList) => Spec | null;

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
