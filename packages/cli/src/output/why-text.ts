import type { CandidateFieldsFragment, ExecutionWhyQuery, PolicyPreviewQuery } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderFields, renderTable, renderText } from './table.ts';
import { ago, loadOf, shortNumber, shortValue } from './words.ts';

type Execution = NonNullable<ExecutionWhyQuery['execution']>;
type Explained =
  | NonNullable<Execution['whyWaiting']>
  | NonNullable<Execution['latestDecision']>
  | PolicyPreviewQuery['previewDispatch'];

/**
 * The explanation of where an execution is, for a terminal: the sentences, then worker × term, then who was left out and
 * why. Where it waits, it says what would happen now; else its newest decision.
 */
export function whyText(execution: Execution, now: number, style: Style): string {
  const blocks = [headline(execution, style)];
  const explained: Explained | null = execution.whyWaiting ?? execution.latestDecision;
  if (explained === null) return [...blocks, 'No decision has been made about it yet.'].join('\n\n');
  if (execution.latestDecision !== null) blocks.push(aboutDecision(execution.latestDecision, now, style));
  return [...blocks, ...explanation(explained, style)].join('\n\n');
}

/** What would be decided now, for a terminal. */
export function previewText(preview: Explained, style: Style): string {
  const outcome = paintState(preview.outcome, style);
  const who =
    preview.winner === null
      ? (preview.reason ?? '')
      : `to ${style.bold(preview.winner)} by ${methodText(preview.method)}`;
  const counts = `${preview.eligibleCount} eligible, ${preview.rejectedCount} left out`;
  const first = [outcome, who, style.dim(`(${counts})`)].filter((part) => part !== '').join(' ');
  const blocks = [renderText(first, style)];
  return [...blocks, ...explanation(preview, style)].join('\n\n');
}

function explanation(explained: Explained, style: Style): string[] {
  const blocks: string[] = [];
  const sentences = explained.explanation.map((sentence) => renderText(`• ${sentence}`, style)).join('\n');
  if (sentences !== '') blocks.push(sentences);
  if ('warnings' in explained && explained.warnings.length > 0) {
    blocks.push(explained.warnings.map((warning) => style.yellow(renderText(`! ${warning}`, style))).join('\n'));
  }
  if (explained.degraded !== null) {
    blocks.push(style.yellow(renderText(`The policy could not be used: ${explained.degraded}`, style)));
  }
  const eligible = explained.candidates.filter((candidate) => candidate.rejected === null);
  if (eligible.length > 0) blocks.push(scoreTable(explained, eligible, style));
  const rejected = explained.candidates.filter((candidate) => candidate.rejected !== null);
  if (rejected.length > 0) blocks.push(rejectionTable(rejected, style));
  const notShown = explained.rejectedCount - rejected.length;
  if (notShown > 0 && explained.rejections.length > 0) {
    const counts = explained.rejections.map(({ reason, count }) => `${reason} ${count}`).join(', ');
    blocks.push(style.dim(renderText(`Left out in all: ${counts}.`, style)));
  }
  if (explained.blinded) {
    const why = 'Scores and ranks are withheld: the policy or the affinity reads routing input.';
    blocks.push(style.dim(renderText(why, style)));
  }
  return blocks;
}

function methodText(method: Explained['method']): string {
  return method === 'ROUTING' ? 'its policy' : method === 'HINT' ? 'the hint' : 'least load';
}

function headline(execution: Execution, style: Style): string {
  const where = execution.workerName === null ? '' : ` on ${style.bold(execution.workerName)}`;
  const parked = execution.parked ? ` ${paintState('PARKED', style)}` : '';
  const first = `${style.bold(execution.id)}  ${execution.workflowRef}  ${paintState(execution.state, style)}${parked}${where}`;
  return `${renderText(first, style)}\n${renderText(execution.why, style)}`;
}

function aboutDecision(decision: NonNullable<Execution['latestDecision']>, now: number, style: Style): string {
  const parts = [
    `decided ${ago(decision.at, now)} ago`,
    `by ${methodText(decision.method)}`,
    `${decision.eligibleCount} eligible, ${decision.rejectedCount} left out`,
    `waited ${shortNumber(decision.waitMs)} ms, took ${shortNumber(decision.durationUs)} µs`,
  ];
  return style.dim(renderText(`${paintState(decision.outcome, style)} ${parts.join(' · ')}`, style));
}

function scoreTable(explained: Explained, candidates: readonly CandidateFieldsFragment[], style: Style): string {
  const { terms } = explained;
  const legend = terms.map((term, index) => {
    const state = term.withheld
      ? ' (withheld)'
      : term.active === false
        ? ` (not used${term.note === null ? '' : `: ${term.note}`})`
        : '';
    return [`T${index + 1}`, `${term.text}  × ${shortNumber(term.weight)}${style.dim(state)}`] as const;
  });
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'worker', whole: true },
    { title: 'role', whole: true },
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
  const table = renderTable(columns, rows, style);
  return legend.length === 0 ? table : `${renderFields(legend, style)}\n\n${table}`;
}

function cellText(cell: CandidateFieldsFragment['cells'][number] | undefined): string {
  if (cell === undefined) return '–';
  switch (cell.state) {
    case 'SCORED':
      return `${shortValue(cell.value, 16)}${ageText(cell.valueAgeMs)} → ${cell.weighted === null ? '–' : shortNumber(cell.weighted)}`;
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

// Of a metric, which is as good as it is fresh.
function ageText(ageMs: number | null): string {
  return ageMs === null ? '' : ` (${(ageMs / 1_000).toFixed(1)} s old)`;
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
    [{ title: 'left out', whole: true }, { title: 'role' }, { title: 'reason', whole: true }, { title: 'because' }],
    rows,
    style,
  );
}
