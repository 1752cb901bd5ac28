import { Menu } from '@mantine/core';
import {
  IconBarrierBlock,
  IconCircleCheck,
  IconCopy,
  IconDots,
  IconFilterDown,
  IconLink,
  IconTrash,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { WorkerAvailability } from '../../api/generated/graphql.ts';
import { usePermission } from '../../api/viewer.ts';
import { plural } from '../../format.ts';
import { paths } from '../../paths.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { PermittedItem } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { RemoveWorkerDocument, SetAvailabilityDocument, type WorkerRow } from './worker-queries.ts';

const DONE: Record<WorkerAvailability, string> = {
  ACTIVE: 'takes work again',
  CORDONED: 'cordoned',
  DRAINING: 'is draining',
};

type Target = Pick<WorkerRow, 'name' | 'availability' | 'load' | 'status'>;

/** The verbs of a worker. Cordon and activate happen at once and can be undone; drain and remove ask first. */
export function useWorkerVerbs(worker: Target, onRemoved?: () => void) {
  const client = useQueryClient();
  const need = usePermission(`worker:${worker.name}:manage`);
  const [asking, setAsking] = useState<'drain' | 'remove' | null>(null);
  const refresh = (): void => {
    setAsking(null);
    void client.invalidateQueries({ queryKey: ['workers'] });
    void client.invalidateQueries({ queryKey: ['worker', worker.name] });
  };
  const availability = useMutation<unknown, ApiError, WorkerAvailability>({
    mutationFn: (next) => execute(SetAvailabilityDocument, { input: { worker: worker.name, availability: next } }),
    onSuccess: (_, next) => {
      const before = worker.availability;
      showToast({
        message: `${worker.name} ${DONE[next]}`,
        ...(next !== before && { undo: () => availability.mutate(before) }),
      });
      refresh();
    },
    onError: (error) => showToast({ message: error.message }),
  });
  const removal = useMutation<unknown, ApiError>({
    mutationFn: () => execute(RemoveWorkerDocument, { input: { worker: worker.name } }),
    onSuccess: () => {
      showToast({ message: `${worker.name} removed` });
      refresh();
      onRemoved?.();
    },
    onError: (error) => {
      setAsking(null);
      showToast({ message: error.message });
    },
  });
  const dialog: ReactNode =
    asking === 'drain' ? (
      <Confirm
        title={`Drain ${worker.name}?`}
        verb={`Drain ${worker.name}`}
        pending={availability.isPending}
        onConfirm={() => availability.mutate('DRAINING')}
        onCancel={() => setAsking(null)}
      >
        <p>
          It takes nothing new and leaves when it is idle.{' '}
          {worker.load > 0 ? `${plural(worker.load, 'execution')} on it finish first.` : 'Nothing runs on it now.'}
        </p>
      </Confirm>
    ) : asking === 'remove' ? (
      <Confirm
        title={`Remove ${worker.name}?`}
        verb={`Remove ${worker.name}`}
        danger
        pending={removal.isPending}
        onConfirm={() => removal.mutate()}
        onCancel={() => setAsking(null)}
      >
        <p>
          It leaves the registry with its metadata. Past executions and decisions keep its name.{' '}
          {worker.status === 'OFFLINE' ? '' : 'A worker that is still alive comes back with its next registration.'}
        </p>
      </Confirm>
    ) : null;
  return {
    need,
    pending: availability.isPending,
    set: (next: WorkerAvailability) => (next === 'DRAINING' ? setAsking('drain') : availability.mutate(next)),
    remove: () => setAsking('remove'),
    dialog,
  };
}

/** "⋯" of one worker. `verbs` false leaves out what the page already has as buttons. */
export function WorkerMenu({
  worker,
  verbs,
  withAvailability,
}: {
  worker: Target;
  verbs: ReturnType<typeof useWorkerVerbs>;
  withAvailability: boolean;
}) {
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <button type="button" className="icon-button dense" aria-label={`Actions for ${worker.name}`}>
          <Glyph icon={IconDots} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Glyph icon={IconCopy} />} onClick={() => void copyText(worker.name)}>
          Copy name
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconLink} />}
          onClick={() => void copyText(location.origin + paths.worker(worker.name))}
        >
          Copy link
        </Menu.Item>
        <Menu.Divider />
        {withAvailability && worker.availability !== 'ACTIVE' && (
          <PermittedItem
            leftSection={<Glyph icon={IconCircleCheck} />}
            need={verbs.need}
            onClick={() => verbs.set('ACTIVE')}
          >
            Activate
          </PermittedItem>
        )}
        {withAvailability && worker.availability === 'ACTIVE' && (
          <PermittedItem
            leftSection={<Glyph icon={IconBarrierBlock} />}
            need={verbs.need}
            onClick={() => verbs.set('CORDONED')}
          >
            Cordon
          </PermittedItem>
        )}
        {withAvailability && worker.availability !== 'DRAINING' && (
          <PermittedItem
            leftSection={<Glyph icon={IconFilterDown} />}
            need={verbs.need}
            onClick={() => verbs.set('DRAINING')}
          >
            Drain…
          </PermittedItem>
        )}
        <PermittedItem leftSection={<Glyph icon={IconTrash} />} need={verbs.need} onClick={verbs.remove}>
          Remove…
        </PermittedItem>
      </Menu.Dropdown>
    </Menu>
  );
}
