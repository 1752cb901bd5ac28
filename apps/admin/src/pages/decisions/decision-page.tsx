import { Button, SegmentedControl } from '@mantine/core';
import { IconCopy, IconEqual, IconScaleOutline, IconZoomQuestion } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ApiError, execute } from '../../api/client.ts';
import type { DecisionQuery } from '../../api/generated/graphql.ts';
import { decisionTime, duration, plural, shortId } from '../../format.ts';
import { type Crumb, usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { DEGRADED_DECISION, FILTER_ORDER, rejectionWords, status } from '../../status.ts';
import { At } from '../../ui/ago.tsx';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Dot, PageHead, Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { EmptyView, ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice } from '../../url-state.ts';
import { type Candidate, type Decision, DecisionDocument } from './decision-queries.ts';
import { eligible, explanationMarkdown, funnel, rejected, tieNote, verdict } from './decision-reading.ts';
import { HeatTable } from './heat-table.tsx';

const VIEWS = ['weighted', 'normalised', 'raw'] as const;
const SHAPE = { view: choice(VIEWS, 'weighted'), reason: choice(['', ...FILTER_ORDER], '') };

/** One decision, as it was made: values and names are those of then, and nothing here changes any more. */
export function DecisionPage() {
  const { id = '' } = useParams({ strict: false });
  const query = useQuery<DecisionQuery, ApiError>({
    queryKey: ['decision', id],
    queryFn: ({ signal }) => execute(DecisionDocument, { id }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const decision = query.data?.decision;
  const execution = decision?.execution?.id;
  const crumbs: Crumb[] = [{ name: 'Executions', href: paths.executions() }];
  if (execution) crumbs.push({ name: shortId(execution), href: paths.execution(execution) });
  usePage([...crumbs, { name: 'Decision' }]);
  const follow = useFollow();
  return (
    <>
      <PageHead
        title={decision ? verdict(decision) : query.data ? 'Decision not found' : 'Decision'}
        badge={
          decision && (
            <>
              <StatusBadge look={status.decision[decision.outcome]} pill />
              {decision.degraded != null && <StatusBadge look={DEGRADED_DECISION} pill />}
            </>
          )
        }
        meta={decision && <Meta decision={decision} />}
        actions={
          decision && (
            <Button
              leftSection={<Glyph icon={IconCopy} />}
              onClick={() =>
                void copyText(
                  explanationMarkdown(decision, location.origin + paths.decision(decision.id)),
                  'Explanation copied as Markdown',
                )
              }
            >
              Copy explanation
            </Button>
          )
        }
      />
      {decision ? (
        <Reading decision={decision} />
      ) : (
        <div className="panel">
          {query.data ? (
            <EmptyView
              icon={IconZoomQuestion}
              title={id}
              actions={<Button onClick={() => follow(paths.executions())}>All executions</Button>}
            >
              <p>No decision has this id. Decisions are kept for a while and then forgotten with their execution.</p>
            </EmptyView>
          ) : query.isError ? (
            <ErrorView
              what="The decision could not be read"
              failure={query.error}
              onRetry={() => void query.refetch()}
            />
          ) : (
            <SkeletonRows label="the decision" rows={10} />
          )}
        </div>
      )}
    </>
  );
}

function Meta({ decision }: { decision: Decision }) {
  return (
    <>
      {decision.execution && (
        <>
          for{' '}
          <Anchor className="l mono" href={paths.execution(decision.execution.id)}>
            {shortId(decision.execution.id)}
          </Anchor>
          <Dot />
        </>
      )}
      {decision.version && (
        <>
          <Anchor
            className="l"
            href={paths.workflow(decision.version.workflowRef, { version: String(decision.version.number) })}
          >
            {decision.version.workflowRef} v{decision.version.number}
          </Anchor>
          <Dot />
        </>
      )}
      attempt {decision.attempt}, generation {decision.generation}
      <Dot />
      <At at={decision.at} withMs />
      <Dot />
      waited {duration(decision.waitMs)}, decided in {decisionTime(decision.durationUs)}
      <Dot />
      values as seen then
    </>
  );
}

function Reading({ decision }: { decision: Decision }) {
  const [state, set] = useUrlState(SHAPE);
  const rows = eligible(decision);
  const tie = tieNote(decision);
  const states = new Set(rows.flatMap((row) => row.cells.map((cell) => cell.state)));
  const canSwitch = decision.terms.some((term) => !term.withheld) && rows.length > 0;
  return (
    <>
      {decision.degraded != null && (
        <Banner tone="warn" title="The policy could not be used">
          {decision.degraded} The least loaded worker was taken instead.
        </Banner>
      )}
      {decision.outcome === 'PARKED' && (
        <Banner tone="warn" title={decision.reason ?? 'No worker was eligible'}>
          The execution is parked and is looked at again when something changes that can help it.
        </Banner>
      )}
      {decision.outcome === 'FAILED' && <Banner tone="bad" title={decision.reason ?? 'Dispatch failed'} />}
      {decision.blinded && (
        <Banner tone="accent" title="This decision read routing input">
          Scores, totals, ranks, margin and verdicts per worker are withheld, so that nobody can read the value back.
        </Banner>
      )}
      <Funnel decision={decision} selected={state.reason} onSelect={(reason) => set({ reason })} />
      {decision.explanation.length > 0 && (
        <Panel title="Explanation" className="why mb">
          <ul className="sentences" style={{ marginTop: 0 }}>
            {decision.explanation.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Panel>
      )}
      {(rows.length > 0 || decision.eligibleCount > 0) && (
        <Panel
          title="Eligible"
          count={decision.eligibleCount}
          flush
          className="mb"
          aside={
            canSwitch && (
              <SegmentedControl
                aria-label="Cell values"
                data={[
                  { value: 'weighted', label: 'Weighted' },
                  { value: 'normalised', label: 'Normalised' },
                  { value: 'raw', label: 'Raw' },
                ]}
                value={state.view}
                onChange={(view) => set({ view: view })}
              />
            )
          }
        >
          {rows.length === 0 ? (
            <p className="note">The eligible workers are withheld.</p>
          ) : (
            <>
              <HeatTable decision={decision} rows={rows} view={state.view} />
              <Notes tie={tie} states={states} shown={rows.length} all={decision.eligibleCount} />
            </>
          )}
        </Panel>
      )}
      <Rejected decision={decision} reason={state.reason} onClear={() => set({ reason: '' })} />
    </>
  );
}

function Notes({
  tie,
  states,
  shown,
  all,
}: {
  tie: { fact: string; rest: string } | null;
  states: ReadonlySet<string>;
  shown: number;
  all: number;
}) {
  const legend = [
    states.has('INACTIVE') && 'Hatched: adds 0 for all.',
    states.has('MISSING') && 'Dotted: missing, scored 0.',
    states.has('GATED') && 'Dashed: a condition kept it out.',
    states.has('WITHHELD') && 'Locked: reads routing input.',
    shown < all && `${shown} of ${all} kept.`,
  ].filter((line) => line !== false);
  if (!tie && legend.length === 0) return null;
  return (
    <div className="note">
      {tie && (
        <span>
          <Glyph icon={IconEqual} /> <b className="strong">{tie.fact}</b> {tie.rest}
        </span>
      )}
      {legend.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}

type Reason = Decision['rejections'][number]['reason'];

function Funnel({
  decision,
  selected,
  onSelect,
}: {
  decision: Decision;
  selected: Reason | '';
  onSelect: (reason: Reason | '') => void;
}) {
  const left = funnel(decision);
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <div className="fun" role="group" aria-label="Funnel">
      <div className="b">
        <div className="v">{decision.eligibleCount + decision.rejectedCount}</div>
        <div className="k">considered</div>
      </div>
      <div className="mid">
        <div className="bar" aria-hidden>
          {left.map((each) => (
            <b key={each.reason} style={{ flex: each.count }} />
          ))}
          {decision.eligibleCount > 0 && <b className="el" style={{ flex: decision.eligibleCount }} />}
        </div>
        <div className="rs">
          {left.length === 0 && <span className="mute small">No filter left anybody out.</span>}
          {left.map((each) => (
            <button
              key={each.reason}
              type="button"
              className="rb"
              aria-pressed={selected === each.reason}
              onClick={() => onSelect(selected === each.reason ? '' : each.reason)}
            >
              {rejectionWords[each.reason]}
              <b>−{each.count}</b>
            </button>
          ))}
        </div>
      </div>
      <div className="b e">
        <div className="v">{decision.eligibleCount}</div>
        <div className="k">eligible</div>
      </div>
    </div>
  );
}

function Rejected({ decision, reason, onClear }: { decision: Decision; reason: Reason | ''; onClear: () => void }) {
  const kept = rejected(decision);
  const rows = reason === '' ? kept : kept.filter((row) => row.rejected === reason);
  if (decision.rejectedCount === 0) return null;
  return (
    <Panel title="Rejected" count={decision.rejectedCount} aside="nearest misses first" flush>
      {rows.length === 0 ? (
        kept.length === 0 ? (
          <EmptyView icon={IconScaleOutline} title="No rejected worker was kept">
            <p>
              {decision.blinded
                ? 'Verdicts per worker are withheld.'
                : 'Of a large fleet, a decision keeps the 50 nearest.'}
            </p>
          </EmptyView>
        ) : (
          <NoMatchView onClear={onClear}>
            {plural(decision.rejectedCount, 'worker')} left out; none of those that were kept for this reason.
          </NoMatchView>
        )
      ) : (
        <>
          <Scroll label="Rejected workers, table">
            <table className="tb">
              <thead>
                <tr>
                  <th scope="col">Worker</th>
                  <th scope="col">Role</th>
                  <th scope="col">Left out by</th>
                  <th scope="col">Because</th>
                  <th scope="col">Wanted</th>
                  <th scope="col">Had</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <RejectedRow key={row.worker} row={row} />
                ))}
              </tbody>
            </table>
          </Scroll>
          {rows.length < decision.rejectedCount && (
            <div className="tfoot">
              {rows.length} of {decision.rejectedCount} shown
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

function RejectedRow({ row }: { row: Candidate }) {
  const first = row.rejections[0];
  return (
    <tr>
      <th scope="row">
        <Anchor href={paths.worker(row.worker)}>{row.worker}</Anchor>
      </th>
      <td className="mute">{row.role}</td>
      <td>{row.rejected && rejectionWords[row.rejected]}</td>
      <td>{row.rejectedBecause ?? first?.message ?? '–'}</td>
      <td className="mono">{first?.wanted ?? <span className="mute">–</span>}</td>
      <td className="mono">{first?.had ?? <span className="mute">–</span>}</td>
    </tr>
  );
}
