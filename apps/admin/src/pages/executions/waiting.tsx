import { age, shortId } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { Ago, At } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import type { ExecutionDetail } from './execution-queries.ts';

/** Paused: what for, and who or what ends it. No slot is held meanwhile. */
export function WaitingBanner({ execution }: { execution: ExecutionDetail }) {
  const { waitingFor } = execution;
  if (execution.state !== 'PAUSED' || !waitingFor) return null;
  switch (waitingFor.kind) {
    case 'RESUME':
      return (
        <Banner
          tone="accent"
          title={
            waitingFor.name
              ? `Paused at “${waitingFor.name}” until somebody resumes it`
              : 'Paused until somebody resumes it'
          }
        >
          It holds no slot meanwhile. Resume lets it go on with an input.
        </Banner>
      );
    case 'TIMER':
      return (
        <Banner tone="accent" title={<TimerTitle until={waitingFor.until ?? null} />}>
          It sleeps and holds no slot meanwhile.
        </Banner>
      );
    case 'CHILD':
      return (
        <Banner
          tone="accent"
          title={
            <>
              Waits for{' '}
              {waitingFor.child ? (
                <>
                  its child{' '}
                  <Anchor className="l mono" href={paths.execution(waitingFor.child)}>
                    {shortId(waitingFor.child)}
                  </Anchor>
                </>
              ) : (
                'a child'
              )}
            </>
          }
        >
          It holds no slot meanwhile, and goes on as soon as the child has ended.
        </Banner>
      );
  }
}

function TimerTitle({ until }: { until: string | null }) {
  const now = useServerNow();
  if (until === null) return 'Paused for a time';
  const left = Date.parse(until) - now;
  return (
    <>
      Paused until <At at={until} />
      {left > 0 ? `, for another ${age(left)}` : ', which is now'}
    </>
  );
}

/** Told to stop: who was told, and since when. */
export function CancellingBanner({ execution }: { execution: ExecutionDetail }) {
  if (execution.state !== 'CANCELLING') return null;
  return (
    <Banner
      tone="accent"
      title={
        <>
          {execution.workerName ?? 'Its worker'} was told to stop <Ago at={execution.updatedAt} suffix />
        </>
      }
    >
      A worker that does not answer in time loses it: it is cancelled then, and what that worker still writes is
      refused.
    </Banner>
  );
}
