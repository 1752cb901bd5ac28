import { memo } from 'react';
import type { ExecutionState } from '../../api/generated/graphql.ts';
import { age, shortId } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago, At } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { ExecutionStep } from './execution-queries.ts';
import { stepKindWords, stepLine, stepLook, stepName } from './step-words.ts';

/** Steps of an execution in `state`, each with what it came to in a line; `onShow` is asked for all of it. */
export function StepsTable({
  steps,
  state,
  onShow,
}: {
  steps: readonly ExecutionStep[];
  state: ExecutionState;
  onShow: (step: ExecutionStep) => void;
}) {
  return (
    <Scroll label="Steps, table">
      <table className="tb">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col" className="pin">
              Step
            </th>
            <th scope="col">State</th>
            <th scope="col">Result</th>
            <th scope="col" className="r">
              When
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <StepRow key={step.position} step={step} state={state} onShow={onShow} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Results may be long, and a running execution changes often: a row is drawn anew only when its own step has changed. */
const StepRow = memo(function StepRow({
  step,
  state,
  onShow,
}: {
  step: ExecutionStep;
  state: ExecutionState;
  onShow: (step: ExecutionStep) => void;
}) {
  const name = stepName(step);
  const look = stepLook(step, state);
  const line = stepLine(step);
  return (
    <tr>
      <td className="mute">{step.position}</td>
      <th scope="row" className="pin">
        <span className="step-name">
          {name === null ? (
            stepKindWords[step.kind]
          ) : (
            <>
              <span className="mute">{stepKindWords[step.kind]}</span> <b>{name}</b>
            </>
          )}
        </span>
      </th>
      <td>
        <StatusBadge look={look} />
        {look === status.step.TIMER && step.wakeAt != null && <Until at={step.wakeAt} />}
        {step.child && (
          <>
            {' '}
            <Anchor className="l mono" href={paths.execution(step.child.id)} title={step.child.id}>
              {shortId(step.child.id)}
            </Anchor>
          </>
        )}
      </td>
      <td className="wrap narrow">
        {line ? (
          <>
            <code className="step-line">{line.text}</code>
            {line.cut && (
              <>
                {' '}
                <button
                  type="button"
                  className="l nb"
                  aria-label={`Show all of step ${step.position}`}
                  onClick={() => onShow(step)}
                >
                  Show all
                </button>
              </>
            )}
          </>
        ) : (
          <span className="mute">–</span>
        )}
      </td>
      <td className="r mute">
        <Ago at={step.at} suffix />
      </td>
    </tr>
  );
});

function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useServerNow();
  return (
    <>
      {' '}
      <At at={at} />
      {left > 0 && <span className="rsn">for another {age(left)}</span>}
    </>
  );
}
