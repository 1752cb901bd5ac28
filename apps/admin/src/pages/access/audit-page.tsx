import { Button, Menu, TextInput } from '@mantine/core';
import { IconDownload, IconHistory } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { AuditEntriesQuery, AuditFilter } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, pageArgs } from '../../api/paging.ts';
import { usePermission } from '../../api/viewer.ts';
import { plural } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { copyText } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Count, PageHead } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView } from '../../ui/view-states.tsx';
import { type StateOf, text } from '../../url-state.ts';
import { csvOf, download, EXPORT_MAX, exportCommand, jsonLinesOf, readEntries } from './audit-export.ts';
import { AuditEntriesDocument } from './audit-queries.ts';
import { AuditRows } from './audit-rows.tsx';
import { ListStates, totalOf } from './list-states.tsx';

const SHAPE = {
  actor: text(),
  action: text(),
  target: text(),
  /** As a date field writes it, in local time. */
  from: text(),
  until: text(),
  after: text(),
  before: text(),
};

type State = StateOf<typeof SHAPE>;

const NO_FILTER = { actor: '', action: '', target: '', from: '', until: '' };

function toFilter(state: State): AuditFilter {
  const moment = (local: string): string | null => {
    const at = new Date(local);
    return local === '' || Number.isNaN(at.getTime()) ? null : at.toISOString();
  };
  const [after, before] = [moment(state.from), moment(state.until)];
  return {
    ...(state.actor !== '' && { actor: state.actor }),
    ...(state.action !== '' && { action: state.action }),
    ...(state.target !== '' && { target: state.target }),
    ...(after !== null && { after }),
    ...(before !== null && { before }),
  };
}

/** Who changed what, when and from where. */
export function AuditPage() {
  usePage([{ name: 'Audit' }]);
  const [state, set] = useUrlState(SHAPE);
  const filter = toFilter(state);
  const variables = { ...pageArgs(state, 50), filter };
  const query = useQuery<AuditEntriesQuery, ApiError>({
    queryKey: ['audit', variables],
    queryFn: ({ signal }) => execute(AuditEntriesDocument, variables, { signal }),
    placeholderData: keepPreviousData,
    // Nothing says when there is a new one.
    staleTime: 0,
  });
  const page = query.data?.auditEntries;
  const total = totalOf(page, query.isPlaceholderData);
  return (
    <>
      <PageHead
        title={<>Audit{total !== null && <Count>{total}</Count>}</>}
        meta="Every change of configuration and access, and what operators did. Newest first; nothing can be taken out."
        actions={<Export filter={filter} />}
      />
      <Filters state={state} onChange={(patch, how) => set({ ...patch, ...FIRST_PAGE }, how)} />
      <div className="panel">
        <ListStates
          query={query}
          page={page}
          place={state}
          noun="entries"
          filtered={Object.keys(filter).length > 0}
          empty={
            <EmptyView icon={IconHistory} title="Nothing has been changed yet">
              <p>The first change of a deployment, a worker or who may what stands here.</p>
            </EmptyView>
          }
          renderRows={(rows) => <AuditRows rows={rows} onNarrow={(patch) => set({ ...patch, ...FIRST_PAGE })} />}
          onPlace={(place) => set(place)}
          onClear={() => set({ ...NO_FILTER, ...FIRST_PAGE })}
        />
      </div>
    </>
  );
}

type Filtered = Pick<State, keyof typeof NO_FILTER>;

function Filters({
  state,
  onChange,
}: {
  state: Filtered;
  onChange: (patch: Partial<Filtered>, how?: 'replace') => void;
}) {
  return (
    <div className="tools audit-tools">
      <SearchField
        label="Target"
        placeholder="Kind and name, e.g. worker:w-7"
        value={state.target}
        onSearch={(target) => onChange({ target }, 'replace')}
      />
      <SearchField
        label="Actor"
        placeholder="Who"
        value={state.actor}
        onSearch={(actor) => onChange({ actor }, 'replace')}
      />
      <SearchField
        label="Action begins with"
        placeholder="Action, e.g. deployment."
        value={state.action}
        onSearch={(action) => onChange({ action }, 'replace')}
      />
      <TextInput
        type="datetime-local"
        aria-label="From"
        value={state.from}
        onChange={(event) => onChange({ from: event.currentTarget.value }, 'replace')}
      />
      <TextInput
        type="datetime-local"
        aria-label="Until before"
        value={state.until}
        onChange={(event) => onChange({ until: event.currentTarget.value }, 'replace')}
      />
    </div>
  );
}

function Export({ filter }: { filter: AuditFilter }) {
  const need = usePermission('admin:audit:read');
  const reading = useMutation<void, ApiError, 'jsonl' | 'csv'>({
    mutationFn: async (wanted) => {
      const { rows, whole } = await readEntries(filter);
      if (wanted === 'csv') download('muster-audit.csv', 'text/csv', csvOf(rows));
      else download('muster-audit.jsonl', 'application/x-ndjson', jsonLinesOf(rows));
      showToast({
        message: whole
          ? `${plural(rows.length, 'entry', 'entries')} exported`
          : `The newest ${EXPORT_MAX.toLocaleString('en-US')} entries exported; the command takes all`,
      });
    },
    onError: (error) => showToast({ message: error.message }),
  });
  if (!need.allowed) {
    return (
      <PermittedButton need={need} leftSection={<Glyph icon={IconDownload} />}>
        Export
      </PermittedButton>
    );
  }
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button leftSection={<Glyph icon={IconDownload} />} loading={reading.isPending}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => reading.mutate('jsonl')}>JSON lines</Menu.Item>
        <Menu.Item onClick={() => reading.mutate('csv')}>CSV</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void copyText(exportCommand(filter, 'jsonl'), 'Command copied')}>
          Copy command for JSON lines
        </Menu.Item>
        <Menu.Item onClick={() => void copyText(exportCommand(filter, 'csv'), 'Command copied')}>
          Copy command for CSV
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
