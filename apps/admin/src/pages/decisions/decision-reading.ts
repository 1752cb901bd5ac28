import { metricValue, score } from '../../format.ts';
import { FILTER_ORDER, rejectionWords } from '../../status.ts';
import type { Candidate, Cell, Decision, Term } from './decision-queries.ts';

export type CellView = 'weighted' | 'normalised' | 'raw';

/** The page's title: who won and by how much, or that nobody did. */
export function verdict(decision: Decision): string {
  const { winner } = decision;
  if (decision.outcome === 'FAILED') return 'Failed at dispatch';
  if (winner == null) return 'Nobody could take it';
  if (decision.eligibleCount === 1) return `${winner} was the only eligible worker`;
  if (decision.blinded) return `${winner} was chosen`;
  if (decision.method === 'HINT') return `${winner} was the preferred worker`;
  if (decision.method === 'LEAST_LOADED') return `${winner} was the least loaded`;
  if (decision.margin == null) return `${winner} won`;
  if (decision.tieBreak !== 'NONE') return `${winner} won the tie`;
  return `${winner} won by ${score(decision.margin)}`;
}

export function eligible(decision: Decision): Candidate[] {
  return decision.candidates.filter((candidate) => candidate.rejected == null);
}

export function rejected(decision: Decision): Candidate[] {
  return decision.candidates.filter((candidate) => candidate.rejected != null);
}

/** The filters that left somebody out, in the order they ran. */
export function funnel(decision: Decision): Decision['rejections'] {
  return decision.rejections.toSorted((a, b) => FILTER_ORDER.indexOf(a.reason) - FILTER_ORDER.indexOf(b.reason));
}

/** Length and tint of a cell, 0..1. Weighted: against the largest weight of the table; normalised: as it is; raw: none. */
export function intensity(cell: Cell, terms: readonly Term[], view: CellView): number {
  if (cell.state !== 'SCORED' || view === 'raw') return 0;
  if (view === 'normalised') return clamp(cell.normalised ?? 0);
  const largest = Math.max(...terms.map((term) => term.weight), 0);
  return largest === 0 ? 0 : clamp((cell.weighted ?? 0) / largest);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The step of the five-step ramp for an intensity; 0 only for nothing. */
export function heatStep(value: number): 0 | 1 | 2 | 3 | 4 {
  return Math.min(4, Math.max(0, Math.ceil(value * 4 - 1e-9))) as 0 | 1 | 2 | 3 | 4;
}

export function cellValue(value: unknown): string {
  if (value == null) return '';
  if (typeof value === 'number') return metricValue(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a cell says: the large line and the line below it. */
export function cellText(cell: Cell, view: CellView, note: string | null | undefined): { main: string; sub: string } {
  const value = cellValue(cell.value);
  switch (cell.state) {
    case 'MISSING':
      return { main: 'missing', sub: 'scored 0' };
    case 'GATED':
      return { main: 'gated', sub: value === '' ? 'condition kept it out' : value };
    case 'INACTIVE':
      return { main: 'inactive', sub: note ?? 'adds 0 for all' };
    case 'WITHHELD':
      return { main: 'withheld', sub: 'reads routing input' };
    case 'SCORED':
      if (view === 'raw') return { main: value === '' ? '–' : value, sub: '' };
      return { main: score((view === 'weighted' ? cell.weighted : cell.normalised) ?? 0), sub: value };
  }
}

/** The first of the eligible that tie, all of them, and what decided between the best two; null where none do. */
export function tieNote(decision: Decision): { fact: string; rest: string } | null {
  if (decision.blinded) return null;
  const rows = eligible(decision);
  for (let i = 1; i < rows.length; i += 1) {
    const [a, b] = [rows[i - 1], rows[i]];
    if (!a || !b || a.total == null || b.total == null || a.total !== b.total) continue;
    const tied = rows.filter((row) => row.total === a.total).map((row) => row.worker);
    return {
      fact: `${tied.slice(0, -1).join(', ')} and ${tied.at(-1)} tie on ${score(a.total)}.`,
      rest:
        a.load === b.load
          ? `Same load (${a.load}), so the name decided: ${a.worker} comes first.`
          : `The lower load decided: ${a.load} on ${a.worker} against ${b.load} on ${b.worker}.`,
    };
  }
  return null;
}

/** The explanation as Markdown, for a ticket. Says nothing that the page does not. */
export function explanationMarkdown(decision: Decision, link: string): string {
  const lines = [`## ${verdict(decision)}`, '', ...decision.explanation.map((sentence) => `- ${sentence}`), ''];
  const considered = decision.eligibleCount + decision.rejectedCount;
  const left = funnel(decision).map((each) => `${rejectionWords[each.reason].toLowerCase()} ${each.count}`);
  lines.push(
    `${considered} considered, ${decision.eligibleCount} eligible.${left.length > 0 ? ` Left out: ${left.join(', ')}.` : ''}`,
  );
  if (decision.degraded != null) lines.push('', `**Degraded:** ${decision.degraded}`);
  const rows = eligible(decision);
  if (!decision.blinded && decision.terms.length > 0 && rows.length > 0) {
    const heads = [
      'Worker',
      ...decision.terms.map((term) => `${term.text} ×${term.weight}`.replaceAll('|', '\\|')),
      'Total',
    ];
    lines.push('', `| ${heads.join(' | ')} |`, `|${heads.map(() => '---').join('|')}|`);
    for (const row of rows) {
      const cells = row.cells.map((cell) => cellText(cell, 'weighted', null).main);
      lines.push(`| ${[row.worker, ...cells, row.total == null ? '–' : score(row.total)].join(' | ')} |`);
    }
  }
  lines.push(
    '',
    `Decision ${decision.id} at ${decision.at}${decision.execution ? ` for ${decision.execution.id}` : ''}: ${link}`,
  );
  return lines.join('\n');
}
