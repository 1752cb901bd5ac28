import { answerAffinity, answerRequests, answerScoring } from '../src/decision/conformance-answers.ts';
import { parsePolicyText } from '../src/policy/parse/parse.ts';
import { parseRoutingInputHeader } from '../src/routing-input/routing-input.ts';
import { sameJson } from './same-json.ts';

/** What a vector file asks; the start of its name says which, longest first. */
export const VECTOR_KINDS = ['requests-extraction', 'extraction', 'requests', 'affinity', 'scoring', 'header'] as const;
export type VectorKind = (typeof VECTOR_KINDS)[number];

/** One line of a vector file. Which further fields there are depends on the kind. */
export interface Vector {
  readonly id: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly ok: boolean;
  /** What was answered, in the form of `expected`. */
  readonly got: unknown;
  /** What is wrong with it; null where it is right. */
  readonly reason: string | null;
}

/** Kind of the vectors in a file, null where its name starts with none. */
export function kindOfFile(fileName: string): VectorKind | null {
  const name = fileName.split(/[/\\]/).at(-1) ?? '';
  return VECTOR_KINDS.find((kind) => name.startsWith(kind)) ?? null;
}

/** Answers one vector with the code that the product runs, and compares with what is expected. */
export function answer(kind: VectorKind, vector: Vector): Answer {
  return ANSWERS[kind](vector);
}

const ANSWERS: Readonly<Record<VectorKind, (vector: Vector) => Answer>> = {
  extraction: (vector) => answerText(vector, fieldOf(vector, 'kind') === 'routing' ? 'ROUTING' : 'AFFINITY'),
  'requests-extraction': (vector) => answerText(vector, 'REQUESTS'),
  header: answerHeader,
  affinity: (vector) => {
    const got = answerAffinity(vector as Vector & Parameters<typeof answerAffinity>[0]);
    const wanted = { match: vector.expected['match'], diagnostic: kindOfDiagnostic(vector.expected['diagnostic']) };
    return compared(sameJson({ match: got.match, diagnostic: kindOfDiagnostic(got.diagnostic) }, wanted), got);
  },
  requests: (vector) => {
    const got = answerRequests(vector as Vector & Parameters<typeof answerRequests>[0]);
    return compared(got.match === vector.expected['match'], got);
  },
  scoring: (vector) => {
    const got = answerScoring(vector as Vector & Parameters<typeof answerScoring>[0]);
    const { stage, scores, ranking, winner } = vector.expected;
    const same =
      got.stage === stage && got.winner === winner && sameJson(got.ranking, ranking) && sameScores(got.scores, scores);
    return compared(same, got);
  },
};

/** The text has to give exactly the spec, and its canonical form the same one again. */
function answerText(vector: Vector, stage: 'ROUTING' | 'AFFINITY' | 'REQUESTS'): Answer {
  const text = fieldOf(vector, 'text');
  const result = parsePolicyText(typeof text === 'string' ? text : '', stage);
  const got = result.ok ? { ok: true, spec: result.spec } : { ok: false, problems: result.problems };
  if (vector.expected['ok'] !== true) return compared(!result.ok, got);
  return compared(result.ok && sameJson(result.spec, vector.expected['spec']), got);
}

function answerHeader(vector: Vector): Answer {
  const headers = fieldOf(vector, 'headers');
  const values = Array.isArray(headers) ? headers.map((value) => String(value)) : null;
  const got = parseRoutingInputHeader(values);
  if (vector.expected['accept'] !== true) return compared(!got.accept, got);
  return compared(got.accept && sameJson(got.value, vector.expected['value']), got);
}

function fieldOf(vector: Vector, name: string): unknown {
  return Object.entries(vector).find(([key]) => key === name)?.[1];
}

function compared(ok: boolean, got: unknown): Answer {
  return { ok, got, reason: ok ? null : `got ${JSON.stringify(got)}` };
}

/** Scores are compared within 1e-9 · max(1, |x|). */
function sameScores(got: Readonly<Record<string, number>> | null, wanted: unknown): boolean {
  if (got === null || wanted === null || typeof wanted !== 'object') return got === wanted;
  const expected = Object.entries(wanted);
  return (
    expected.length === Object.keys(got).length &&
    expected.every(([worker, score]) => {
      const mine = got[worker];
      return typeof mine === 'number' && Math.abs(mine - Number(score)) <= 1e-9 * Math.max(1, Math.abs(Number(score)));
    })
  );
}

/** Only the kind of a diagnostic is promised. */
function kindOfDiagnostic(diagnostic: unknown): unknown {
  return typeof diagnostic === 'object' && diagnostic !== null && 'kind' in diagnostic ? diagnostic.kind : diagnostic;
}
