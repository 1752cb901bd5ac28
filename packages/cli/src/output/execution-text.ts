import type { ExecutionFieldsFragment, ExecutionShowQuery } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderFields, renderTable, titled } from './table.ts';
import { ago, json, shortValue } from './words.ts';

/** The fields of an execution, for a terminal. */
export function executionText(execution: ExecutionFieldsFragment, now: number, style: Style): string {
  const { deployment, variantLabel, error } = execution;
  return renderFields(
    [
      ['execution', style.bold(execution.id)],
      ['workflow', execution.workflowRef],
      ['deployment', deployment === null ? null : `${deployment.slug} / ${variantLabel ?? ''}`],
      ['session', execution.sessionKey],
      ['state', paintState(execution.state, style)],
      ['why', execution.why],
      ['worker', execution.workerName],
      ['roles', execution.targetRoles.join(', ')],
      [
        'parked',
        execution.parked
          ? `${execution.parkedReason ?? ''} (${ago(execution.parkedSince ?? execution.createdAt, now)})`
          : null,
      ],
      ['attempt', `${execution.attempt} of ${execution.maxAttempts}, generation ${execution.generation}`],
      ['priority', execution.priority === 0 ? null : String(execution.priority)],
      ['by', execution.submittedBy],
      ['created', execution.createdAt],
      ['started', execution.startedAt],
      ['finished', execution.finishedAt],
      ['input', execution.input === null ? null : json(execution.input)],
      ['output', execution.output === null ? null : json(execution.output)],
      ['error', error === null ? null : style.red(`${error.type}: ${error.message}`)],
    ],
    style,
  );
}

/** The same with its attempts and events. */
export function executionDetailText(
  execution: NonNullable<ExecutionShowQuery['execution']>,
  now: number,
  style: Style,
): string {
  const blocks = [executionText(execution, now, style)];
  const links = renderFields(
    [
      ['version', execution.version === null ? null : `${execution.version.number} (${execution.version.id})`],
      ['waits for', execution.waitingFor === null ? null : waitingText(execution.waitingFor)],
      ['called by', execution.parent?.id],
      ['retry of', execution.retryOf?.id],
      [
        'children',
        execution.children.nodes
          .map((child) => `${child.id}  ${child.workflowRef}  ${paintState(child.state, style)}`)
          .join('\n'),
      ],
    ],
    style,
  );
  if (links !== '') blocks.push(links);
  if (execution.attempts.length > 0) {
    const rows = execution.attempts.map((attempt) => [
      String(attempt.number),
      String(attempt.generation),
      attempt.worker,
      attempt.outcome,
      attempt.scheduledAt,
      attempt.error === null ? '' : `${attempt.error.type}: ${attempt.error.message}`,
    ]);
    const titles = ['attempt', 'generation', 'worker', 'outcome', 'scheduled', 'error'];
    blocks.push(renderTable(titled(titles, ['generation', 'worker']), rows, style));
  }
  if (execution.events.nodes.length > 0) {
    const rows = execution.events.nodes.map((event) => [
      String(event.sequence),
      event.at,
      event.type,
      event.worker ?? '',
      event.data === null ? '' : shortValue(event.data, 100),
    ]);
    const titles = ['event', 'at', 'type', 'worker', 'data'];
    blocks.push(renderTable(titled(titles, ['event', 'at', 'worker']), rows, style));
  }
  return blocks.join('\n\n');
}

type Execution = NonNullable<ExecutionShowQuery['execution']>;

function waitingText({ kind, name, until, child }: NonNullable<Execution['waitingFor']>): string {
  if (kind === 'TIMER') return `a timer${until === null ? '' : `, until ${until}`}`;
  if (kind === 'CHILD') return `its child${child === null ? '' : ` ${child}`}`;
  return `being resumed${name === null ? '' : ` (${name})`}`;
}
