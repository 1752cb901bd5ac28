/** A stretch of the text in UTF-16 offsets, end exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type ProblemSeverity = 'ERROR' | 'WARNING';

/** One thing that is wrong, or odd, in a policy text. Line and column count from 1, the column in UTF-16 units. */
export interface PolicyProblem extends Span {
  /** What was wrong and what would be right. */
  readonly message: string;
  /** Stable, upper case, e.g. `UNKNOWN_TERM`. */
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly severity: ProblemSeverity;
}

const MAX_PROBLEMS = 100;

/** Gathers the problems of one text. */
export class ProblemList {
  readonly #text: string;
  readonly #found: PolicyProblem[] = [];
  #errors = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** How many errors there were, also beyond those kept. */
  get errorCount(): number {
    return this.#errors;
  }

  error(span: Span, code: string, message: string): void {
    this.#errors += 1;
    this.#add(span, code, message, 'ERROR');
  }

  warning(span: Span, code: string, message: string): void {
    this.#add(span, code, message, 'WARNING');
  }

  /** Takes over the problems of a part that begins at `offset`. */
  addPart(part: ProblemList, offset: number): void {
    this.#errors += part.#errors;
    for (const { from, to, code, message, severity } of part.#found) {
      this.#add({ from: from + offset, to: to + offset }, code, message, severity);
    }
  }

  /** In text order; at most 100. */
  inOrder(): PolicyProblem[] {
    return this.#found.toSorted((a, b) => a.from - b.from || a.to - b.to);
  }

  #add(span: Span, code: string, message: string, severity: ProblemSeverity): void {
    if (this.#found.length >= MAX_PROBLEMS) return;
    const from = Math.max(0, Math.min(span.from, this.#text.length));
    const to = Math.max(from, Math.min(span.to, this.#text.length));
    this.#found.push({ message, from, to, code, ...position(this.#text, from), severity });
  }
}

function position(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset; i += 1) {
    const unit = text.charAt(i);
    if (unit === '\n' || (unit === '\r' && text.charAt(i + 1) !== '\n')) {
      line += 1;
      lineStart = i + 1;
    }
  }
  return { line, column: offset - lineStart + 1 };
}
