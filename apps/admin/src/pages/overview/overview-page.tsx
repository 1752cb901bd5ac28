import { useUrlState } from '../../hooks/use-url-state.ts';
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconParkingCircle, IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { type FleetNumbers, useFleet } from '../../api/fleet.ts';
import type { AttentionQuery, StartedQuery } from '../../api/generated/graphql.ts';
import { serverNow } from '../../api/server-clock.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { usePage } from '../../hooks/use-page.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { PageHead, Panel } from '../../ui/layout.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice } from '../../url-state.ts';
import { type AttentionItem, attentionItems, PARKED_TOO_LONG_MS } from './attention.ts';
import { GetStarted } from './get-started.tsx';
import { AttentionDocument, StartedDocument } from './overview-queries.ts';
import { ParkedReasons } from './parked-reasons.tsx';
import { RecentDecisions } from './recent-decisions.tsx';
import { Tiles } from './tiles.tsx';

const SHAPE = { start: choice(['', '1'], '') };
const HIDDEN_KEY = 'muster-start-hidden';

export function OverviewPage() {
  usePage([{ name: 'Overview' }]);
  const [url] = useUrlState(SHAPE);
  const fleet = useFleet();
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN_KEY) === '1');
  const numbers = fleet.data?.fleetMetrics;
  const started = useStarted(numbers);
  const ready = started.data && started.data.executions.totalCount > 0 && started.data.deployments.totalCount > 0;
  if (started.data && (url.start === '1' || (!ready && !hidden))) {
    return (
      <GetStarted
        started={started.data}
        onHide={() => {
          localStorage.setItem(HIDDEN_KEY, '1');
          setHidden(true);
        }}
      />
    );
  }
  return (
    <>
      <PageHead title="Overview" />
      <NeedsAttention fleet={numbers} />
      <Tiles fleet={fleet} />
      <div className="grid g53 start-aligned">
        <RecentDecisions />
        <ParkedReasons fleet={fleet} />
      </div>
    </>
  );
}

/** Whether there is something to look at. Asked again when the numbers of the fleet move, until there is. */
function useStarted(fleet: FleetNumbers | undefined) {
  const client = useQueryClient();
  const query = useQuery<StartedQuery, ApiError>({
    queryKey: ['started'],
    queryFn: ({ signal }) => execute(StartedDocument, {}, { signal }),
  });
  const open =
    query.data !== undefined && (query.data.executions.totalCount === 0 || query.data.deployments.totalCount === 0);
  const mark = fleet ? `${fleet.workers} ${fleet.healthyWorkers} ${fleet.pending} ${fleet.running} ${fleet.at}` : '';
  useEffect(() => {
    if (open) void client.invalidateQueries({ queryKey: ['started'] });
  }, [client, open, mark]);
  return query;
}

const ICONS = { deployment: IconAlertTriangle, parked: IconParkingCircle, worker: IconPlugConnectedX };

function NeedsAttention({ fleet }: { fleet: FleetNumbers | undefined }) {
  const client = useQueryClient();
  const query = useQuery<AttentionQuery, ApiError>({
    queryKey: ['deployments', 'attention'],
    queryFn: ({ signal }) =>
      execute(
        AttentionDocument,
        { parkedBefore: new Date(serverNow() - PARKED_TOO_LONG_MS).toISOString() },
        { signal },
      ),
    refetchInterval: usePollWhenStale(),
  });
  // The list is derived from what the fleet's numbers count: when they move, it is read again.
  const mark =
    fleet &&
    [fleet.unhealthyWorkers, fleet.staleWorkers, fleet.offlineWorkers, fleet.deadRoles, fleet.parked].join(' ');
  const before = useRef(mark);
  useEffect(() => {
    if (mark !== undefined && before.current !== undefined && mark !== before.current) {
      void client.invalidateQueries({ queryKey: ['deployments', 'attention'] });
    }
    before.current = mark;
  }, [client, mark]);
  const items = query.data && attentionItems(query.data, fleet);
  const [all, setAll] = useState(false);
  const shown = all ? items : items?.slice(0, 6);
  return (
    <Panel title="Needs attention" count={items?.length} flush className="mb">
      {query.isPending ? (
        <SkeletonRows label="what needs attention" rows={3} />
      ) : !shown || !items ? (
        query.error && (
          <ErrorView
            what="What needs attention could not be read"
            failure={query.error}
            onRetry={() => void query.refetch()}
          />
        )
      ) : items.length === 0 ? (
        <p className="note" style={{ border: 0 }}>
          <Glyph icon={IconCircleCheck} /> Nothing. Every variant is live, every worker is well, nothing is parked for
          long.
        </p>
      ) : (
        <>
          <ul className="att" aria-label="Needs attention">
            {shown.map((item) => (
              <Item key={item.key} item={item} />
            ))}
          </ul>
          {items.length > shown.length && (
            <div className="tfoot">
              <span className="end">
                <Button size="xs" onClick={() => setAll(true)}>
                  Show {items.length - shown.length} more
                </Button>
              </span>
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

function Item({ item }: { item: AttentionItem }) {
  return (
    <li className={`a-${item.tone}`}>
      <Glyph icon={ICONS[item.kind]} />
      <span>
        <strong>{item.fact}</strong> <span className="x">– {item.rest}</span>
      </span>
      <span className="t">{item.since && <Ago at={item.since} />}</span>
      <Anchor className="l" href={item.href}>
        {item.verb}
      </Anchor>
    </li>
  );
}
