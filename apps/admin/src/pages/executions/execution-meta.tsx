import { duration, shortId } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { Anchor } from '../../ui/anchor.tsx';
import { Dot } from '../../ui/layout.tsx';
import type { ExecutionDetail } from './execution-queries.ts';

/** The line under the title: what runs, where, since when, for whom, and which execution it belongs to. */
export function ExecutionMeta({ execution }: { execution: ExecutionDetail }) {
  return (
    <>
      {execution.deployment && (
        <>
          <Anchor className="l" href={paths.deployment(execution.deployment.slug)}>
            {execution.deployment.slug}
          </Anchor>{' '}
          / {execution.variantLabel}
          <Dot />
        </>
      )}
      <Anchor
        className="l"
        href={paths.workflow(
          execution.workflowRef,
          execution.version ? { version: String(execution.version.number) } : {},
        )}
      >
        {execution.workflowRef}
        {execution.version && ` v${execution.version.number}`}
      </Anchor>
      {execution.workerName && (
        <>
          <Dot />
          on{' '}
          <Anchor className="l" href={paths.worker(execution.workerName)}>
            {execution.workerName}
          </Anchor>
        </>
      )}
      <Dot />
      attempt {execution.attempt} of {execution.maxAttempts}
      <Dot />
      <Elapsed execution={execution} />
      <Dot />
      by {execution.submittedBy}
      {execution.sessionKey != null && (
        <>
          <Dot />
          session <span className="mono">{execution.sessionKey}</span>
        </>
      )}
      {execution.parent && (
        <>
          <Dot />
          called by{' '}
          <Anchor className="l mono" href={paths.execution(execution.parent.id)}>
            {shortId(execution.parent.id)}
          </Anchor>
        </>
      )}
      {execution.retryOf && (
        <>
          <Dot />
          retry of{' '}
          <Anchor className="l mono" href={paths.execution(execution.retryOf.id)}>
            {shortId(execution.retryOf.id)}
          </Anchor>
        </>
      )}
    </>
  );
}

function Elapsed({ execution }: { execution: ExecutionDetail }) {
  const now = useServerNow();
  const { startedAt, finishedAt, createdAt } = execution;
  if (startedAt) {
    const ms = (finishedAt ? Date.parse(finishedAt) : now) - Date.parse(startedAt);
    return `${finishedAt ? 'ran' : 'running'} ${duration(Math.max(0, ms))}`;
  }
  if (finishedAt) return `ended after ${duration(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  return `waiting ${duration(Math.max(0, now - Date.parse(createdAt)))}`;
}
