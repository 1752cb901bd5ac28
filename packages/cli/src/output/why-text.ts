import type { CandidateFieldsFragment, ExecutionWhyQuery } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderTable } from './table.ts';
import { ago, loadOf, shortNumber, shortValue } from './words.ts';

type Execution = NonNullable<ExecutionWhyQuery['execution']>;
type Explained = NonNullable<Execution['whyWaiting']> | NonNullable<Execution['latestDecision']>;

/**
 * The explanation of where an execution is, for a terminal: the sentences, then worker × term, then who was left out and
 * why. Where it waits, it says what would happen now; else its newest decision.
 */
export function whyText(execution: Execution, now: number, style: Style): string {
  const blocks = [headline(execution, style)];
  const explained: Explained | null = execution.whyWaiting ?? execution.latestDecision;
  if (explained === null) {
    blocks.push('No decision has been made about it yet.');
    return blocks.join('\n\n');
  }
  if (execution.latestDecision !== null) blocks.push(aboutDecision(execution.latestDecision, now, style));
  const sentences = explained.explanation.map((sentence) => `• ${sentence}`).join('\n');
  if (sentences !== '') blocks.push(sentences);
  if ('warnings' in explained && explained.warnings.length > 0) {
    blocks.push(explained.warnings.map((warning) => style.yellow(`! ${warning}`)).join('\n'));
  }
  if (explained.degraded !== null) blocks.push(style.yellow(`The policy could not be used: ${explained.degraded}`));
  const eligible = explained.candidates.filter((candidate) => candidate.rejected === null);
  if (eligible.length > 0) blocks.push(scoreTable(explained, eligible, style));
  const rejected = explained.candidates.filter((candidate) => candidate.rejected !== null);
  if (rejected.length > 0) blocks.push(rejectionTable(rejected, style));
  const notShown = explained.rejectedCount - rejected.length;
  if (notShown > 0 && explained.rejections.length > 0) {
    const counts = explained.rejections.map(({ reason, count }) => `${reason} ${count}`).join(', ');
    blocks.push(style.dim(`Left out in all: ${counts}.`));
  }
  if (explained.blinded) {
    blocks.push(style.dim('Scores and ranks are withheld: the policy or the affinity reads routing input.'));
  }
  return blocks.join('\n\n');
}

function headline(execution: Execution, style: Style): string {
  const where = execution.workerName === null ? '' : ` on ${style.bold(execution.workerName)}`;
  const parked = execution.parked ? ` ${paintState('PARKED', style)}` : '';
  return `${style.bold(execution.id)}  ${execution.workflowRef}  ${paintState(execution.state, style)}${parked}${where}\n${execution.why}`;
}

function aboutDecision(decision: NonNullable<Execution['latestDecision']>, now: number, style: Style): string {
  const parts = [
    `decided ${ago(decision.at, now)} ago`,
    `by ${decision.method === 'ROUTING' ? 'its policy' : decision.method === 'HINT' ? 'the hint' : 'least load'}`,
    `${decision.eligibleCount} eligible, ${decision.rejectedCount} left out`,
    `waited ${shortNumber(decision.waitMs)} ms, took ${shortNumber(decision.durationUs)} µs`,
  ];
  return style.dim(`${paintState(decision.outcome, style)} ${parts.join(' · ')}`);
}

function scoreTable(explained: Explained, candidates: readonly CandidateFieldsFragment[], style: Style): string {
  const { terms } = explained;
  const legend = terms.map((term, index) => {
    const state = term.withheld
      ? ' (withheld)'
      : term.active === false
        ? ` (not used${term.note === null ? '' : `: ${term.note}`})`
        : '';
    return `${style.dim(`T${index + 1}`)}  ${term.text}  × ${shortNumber(term.weight)}${style.dim(state)}`;
  });
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'worker' },
    { title: 'role' },
    ...terms.map((_, index) => ({ title: `T${index + 1}`, align: 'right' as const })),
    { title: 'total', align: 'right' as const },
    { title: 'load', align: 'right' as const },
  ];
  const rows = candidates.map((candidate) => {
    const won = candidate.worker === explained.winner;
    return [
      candidate.rank === null ? '–' : String(candidate.rank),
      won ? style.green(`${candidate.worker} ✓`) : candidate.worker,
      candidate.role,
      ...terms.map((_, index) => cellText(candidate.cells[index])),
      candidate.total === null ? '–' : shortNumber(candidate.total),
      loadOf(candidate.load, candidate.capacity),
    ];
  });
  return [...legend, ...(legend.length > 0 ? [''] : []), renderTable(columns, rows, style)].join('\n');
}

function cellText(cell: CandidateFieldsFragment['cells'][number] | undefined): string {
  if (cell === undefined) return '–';
  switch (cell.state) {
    case 'SCORED':
      return `${shortValue(cell.value, 16)} → ${cell.weighted === null ? '–' : shortNumber(cell.weighted)}`;
    case 'MISSING':
      return 'no value';
    case 'INACTIVE':
      return '·';
    case 'GATED':
      return 'gated';
    case 'WITHHELD':
      return 'withheld';
  }
}

function rejectionTable(candidates: readonly CandidateFieldsFragment[], style: Style): string {
  const rows = candidates.flatMap((candidate) => {
    const reasons =
      candidate.rejections.length > 0
        ? candidate.rejections
        : [{ reason: candidate.rejected ?? '', message: candidate.rejectedBecause ?? '' }];
    return reasons.map(({ reason, message }, index) => [
      index === 0 ? candidate.worker : '',
      index === 0 ? candidate.role : '',
      style.yellow(reason),
      message,
    ]);
  });
  return renderTable(
    [{ title: 'left out' }, { title: 'role' }, { title: 'reason' }, { title: 'because' }],
    rows,
    style,
  );
}
