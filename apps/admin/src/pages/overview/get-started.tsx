import { Button } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { StartedQuery } from '../../api/generated/graphql.ts';
import { paths } from '../../paths.ts';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { Command } from '../../ui/copy.tsx';

interface Step {
  title: string;
  text: string;
  done: boolean;
  extra?: ReactNode;
}

/** Four steps to a first execution; each ticks itself. */
export function GetStarted({ started, onHide }: { started: StartedQuery; onHide: () => void }) {
  const follow = useFollow();
  const execution = started.executions.nodes[0];
  const embedded = started.workers.nodes.find((worker) => worker.role === 'api');
  const steps: Step[] = [
    {
      title: 'The control plane is up',
      text: embedded
        ? `One embedded worker, ${embedded.name}, is here with role api.`
        : 'It answers, and no worker is here yet.',
      done: true,
    },
    {
      title: 'Start a worker',
      text: 'It appears here within two seconds. Any language works; this one is TypeScript.',
      done: started.workers.nodes.some((worker) => worker.role !== 'api') || started.workers.totalCount > 1,
      extra: (
        <>
          <Command text="SERVICE_ROLE=worker npx muster worker start ./workflows.ts --name w-1" />
          <p role="status" style={{ marginTop: 10, display: 'flex', gap: 8, alignItems: 'center' }}>
            <IconCircleDashed size={16} className="t-accent" aria-hidden />
            Waiting for a worker to say hello
          </p>
        </>
      ),
    },
    {
      title: 'Create a deployment',
      text: 'A name that callers use, and the variants behind it.',
      done: started.deployments.totalCount > 0,
      extra: (
        <Button mt={10} variant="filled" onClick={() => follow(paths.deploymentNew())}>
          Create a deployment
        </Button>
      ),
    },
    {
      title: 'Run it, then read why',
      text: 'Every execution links to the decision that placed it.',
      done: started.executions.totalCount > 0,
      extra: (
        <Button mt={10} variant="filled" onClick={() => follow(paths.executionNew())}>
          Start an execution
        </Button>
      ),
    },
  ];
  const current = steps.findIndex((step) => !step.done);
  return (
    <div className="start">
      <h1 tabIndex={-1}>Get started: a first execution through Muster</h1>
      <p>Four steps, each ticks itself as soon as it has happened.</p>
      <ol className="steps" aria-label="Get started">
        {steps.map((step, index) => (
          <li key={step.title} className={step.done ? 'done' : index === current ? 'cur' : undefined}>
            <span className="n">
              {step.done ? <IconCircleCheckFilled size={20} aria-label="Done" role="img" /> : index + 1}
            </span>
            <div>
              <h2>{step.title}</h2>
              <p>{step.text}</p>
              {index === current && step.extra}
            </div>
          </li>
        ))}
      </ol>
      <p className="mute small" style={{ marginTop: 12 }}>
        {execution?.latestDecision && (
          <>
            <Anchor className="l" href={paths.decision(execution.latestDecision.id)}>
              Read the first decision
            </Anchor>{' '}
            ·{' '}
          </>
        )}
        <button type="button" className="l" onClick={onHide}>
          Hide this
        </button>
      </p>
    </div>
  );
}
