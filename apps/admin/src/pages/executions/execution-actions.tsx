import { Button, Menu } from '@mantine/core';
import {
  IconCircleMinus,
  IconCopy,
  IconDots,
  IconLink,
  IconPlayerPlay,
  IconPlayerTrackNext,
  IconRefresh,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { usePermission, workflowPermission } from '../../api/viewer.ts';
import { shortId } from '../../format.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { asCurl, asGraphql, callOf } from './copy-as.ts';
import { CancelDocument, type ExecutionDetail, RetryDocument } from './execution-queries.ts';
import { ResumeDialog } from './resume-dialog.tsx';

/** The verbs that the state of an execution allows, and what can be taken from it. */
export function ExecutionActions({ execution }: { execution: ExecutionDetail }) {
  const ended = execution.state === 'COMPLETED' || execution.state === 'FAILED' || execution.state === 'CANCELLED';
  return (
    <>
      {execution.state === 'PAUSED' && execution.waitingFor?.kind === 'RESUME' && (
        <ResumeButton execution={execution} />
      )}
      <CopyAs execution={execution} />
      {!ended && <CancelButton execution={execution} />}
      {(execution.state === 'FAILED' || execution.state === 'CANCELLED') && <RetryButton execution={execution} />}
      <More execution={execution} />
    </>
  );
}

function ResumeButton({ execution }: { execution: ExecutionDetail }) {
  const need = usePermission(workflowPermission(execution.workflowRef, 'run'));
  const [open, setOpen] = useState(false);
  return (
    <>
      <PermittedButton
        need={need}
        variant="filled"
        leftSection={<Glyph icon={IconPlayerTrackNext} />}
        onClick={() => setOpen(true)}
      >
        Resume…
      </PermittedButton>
      {open && <ResumeDialog execution={execution} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A new execution like this one; the link "retry of" leads back. */
function RetryButton({ execution }: { execution: ExecutionDetail }) {
  const follow = useFollow();
  const need = usePermission(workflowPermission(execution.workflowRef, 'run'));
  const retry = useMutation<string, ApiError>({
    mutationFn: async () => (await execute(RetryDocument, { input: { id: execution.id } })).retryExecution.execution.id,
    onSuccess: (id) => follow(paths.execution(id)),
    onError: (error) => showToast({ message: error.message }),
  });
  return (
    <PermittedButton
      need={need}
      loading={retry.isPending}
      leftSection={<Glyph icon={IconRefresh} />}
      onClick={() => retry.mutate()}
    >
      Retry
    </PermittedButton>
  );
}

/** Asks first. Once it is told to stop there is nothing more to ask for. */
function CancelButton({ execution }: { execution: ExecutionDetail }) {
  const client = useQueryClient();
  const need = usePermission('execution:*:cancel');
  const [asking, setAsking] = useState(false);
  const cancel = useMutation<unknown, ApiError>({
    mutationFn: () => execute(CancelDocument, { input: { id: execution.id } }),
    onSuccess: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['execution', execution.id] });
    },
    onError: (error) => {
      setAsking(false);
      showToast({ message: error.message });
    },
  });
  if (execution.state === 'CANCELLING') {
    return (
      <Button leftSection={<Glyph icon={IconCircleMinus} />} disabled>
        Cancelling…
      </Button>
    );
  }
  return (
    <>
      <PermittedButton need={need} leftSection={<Glyph icon={IconCircleMinus} />} onClick={() => setAsking(true)}>
        Cancel…
      </PermittedButton>
      {asking && (
        <Confirm
          title={`Cancel ${shortId(execution.id)}?`}
          verb="Cancel execution"
          danger
          pending={cancel.isPending}
          onConfirm={() => cancel.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>{cancelSentence(execution)}</p>
        </Confirm>
      )}
    </>
  );
}

/** What a cancellation would do to it now. */
function cancelSentence(execution: ExecutionDetail): string {
  if (execution.state === 'PAUSED') return 'It is paused, so it ends at once. What it has done already stays done.';
  if (execution.workerName) return `${execution.workerName} is told to stop. What it has done already stays done.`;
  return execution.attempts.length > 0
    ? 'Nobody has it now, so it ends at once. What it has done already stays done.'
    : 'It has not started, so nothing was done yet.';
}

function CopyAs({ execution }: { execution: ExecutionDetail }) {
  const call = callOf(execution);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button leftSection={<Glyph icon={IconCopy} />}>Copy as</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void copyText(asCurl(call, location.origin), 'curl command copied')}>
          Copy as curl
        </Menu.Item>
        <Menu.Item onClick={() => void copyText(asGraphql(call), 'GraphQL copied')}>Copy as GraphQL</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function More({ execution }: { execution: ExecutionDetail }) {
  const follow = useFollow();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <button type="button" className="icon-button" aria-label={`More actions for ${shortId(execution.id)}`}>
          <Glyph icon={IconDots} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Glyph icon={IconCopy} />} onClick={() => void copyText(execution.id)}>
          Copy id
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconLink} />}
          onClick={() => void copyText(location.origin + paths.execution(execution.id))}
        >
          Copy link
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconPlayerPlay} />}
          onClick={() =>
            follow(
              paths.executionNew(
                execution.deployment ? { deployment: execution.deployment.slug } : { workflow: execution.workflowRef },
              ),
            )
          }
        >
          Start another
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
