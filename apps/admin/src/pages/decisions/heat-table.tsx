import { IconLock, IconStarFilled } from '@tabler/icons-react';
import { Fragment, type KeyboardEvent, useState } from 'react';
import { score } from '../../format.ts';
import { Scroll } from '../../ui/layout.tsx';
import type { Candidate, Cell, Decision, Term } from './decision-queries.ts';
import { type CellView, cellText, heatStep, intensity } from './decision-reading.ts';

/** Eligible workers by terms. One cell is the keyboard's stop; arrows move between cells. */
export function HeatTable({
  decision,
  rows,
  view,
}: {
  decision: Decision;
  rows: readonly Candidate[];
  view: CellView;
}) {
  const [at, setAt] = useState({ row: 0, column: 0 });
  const { terms, blinded } = decision;
  const best = rows[0]?.total ?? null;
  const scored = terms.length > 0;
  const totals = scored && !blinded;
  const onKeyDown = (event: KeyboardEvent<HTMLTableElement>): void => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const row = Math.min(rows.length - 1, Math.max(0, at.row + (step[0] ?? 0)));
    const column = Math.min(terms.length - 1, Math.max(0, at.column + (step[1] ?? 0)));
    setAt({ row, column });
    event.currentTarget.querySelector<HTMLElement>(`[data-cell="${row}-${column}"]`)?.focus();
  };
  return (
    <Scroll label="Scores, workers by terms">
      {/* Arrow keys are the grid's own; every cell is reachable with them. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role, jsx-a11y/no-noninteractive-element-interactions */}
      <table className="ht" role={scored ? 'grid' : undefined} onKeyDown={scored ? onKeyDown : undefined}>
        <caption className="sr">
          {totals
            ? `${view[0]?.toUpperCase()}${view.slice(1)} score of each eligible worker per term. The total is the sum of the weighted cells of the row.`
            : 'Eligible workers, best first.'}
        </caption>
        <thead>
          <tr>
            <th scope="col">Worker</th>
            {terms.map((term) => (
              <th scope="col" key={term.text}>
                <code>
                  <Breakable text={term.text} />
                </code>
                <span className="w">×{term.weight}</span>
              </th>
            ))}
            {totals && (
              <th scope="col" className="total">
                Total
              </th>
            )}
            {!scored && (
              <th scope="col" className="total">
                Load
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, rowIndex) => (
            <tr key={row.worker} className={row.worker === decision.winner ? 'win' : undefined}>
              <th scope="row">
                {row.worker === decision.winner && (
                  <IconStarFilled size={14} className="star" aria-label="Winner" role="img" />
                )}
                {row.worker}
                <small>
                  {row.rank != null && `rank ${row.rank} · `}load {row.load}
                  {row.capacity != null && `/${row.capacity}`}
                </small>
              </th>
              {row.cells.map((cell, index) => (
                <HeatCell
                  // Cells stand in term order and have no other identity.
                  // oxlint-disable-next-line react/no-array-index-key
                  key={index}
                  cell={cell}
                  term={terms[index]}
                  terms={terms}
                  view={view}
                  worker={row.worker}
                  place={`${rowIndex}-${index}`}
                  stop={at.row === rowIndex && at.column === index}
                  onFocus={() => setAt({ row: rowIndex, column: index })}
                />
              ))}
              {totals && <Total row={row} best={best} />}
              {!scored && (
                <td className="tot">
                  <b>
                    {row.load}
                    {row.capacity != null && `/${row.capacity}`}
                  </b>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** A term breaks where it is read: after an opening bracket, a comma or a dot of a key, never inside a name. */
function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[(,.])/).map((part, index) => (
    // The parts stand in their order and have no other identity.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

function HeatCell({
  cell,
  term,
  terms,
  view,
  worker,
  place,
  stop,
  onFocus,
}: {
  cell: Cell;
  term: Term | undefined;
  terms: readonly Term[];
  view: CellView;
  worker: string;
  place: string;
  stop: boolean;
  onFocus: () => void;
}) {
  const share = intensity(cell, terms, view);
  const { main, sub } = cellText(cell, view, term?.note);
  const scored = cell.state === 'SCORED';
  // A metric is as good as it is fresh.
  const old = cell.valueAgeMs == null ? '' : `${(cell.valueAgeMs / 1000).toFixed(1)} s old`;
  const under = [sub, old].filter((part) => part !== '').join(' · ');
  return (
    <td
      className={`heat h${heatStep(share)} hs-${cell.state.toLowerCase()}`}
      aria-label={`${worker}, ${term?.text ?? ''}: ${main} ${under}`.trim()}
      tabIndex={stop ? 0 : -1}
      data-cell={place}
      onFocus={onFocus}
    >
      <span className="hn">
        {cell.state === 'WITHHELD' && <IconLock size={13} aria-hidden />}
        {scored ? main : <em>{main}</em>}
      </span>{' '}
      <span className="hv">{under}</span>
      {scored && view !== 'raw' && (
        <span className="hb" aria-hidden>
          <u style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </td>
  );
}

/** Pixels of the stacked bar of the best total. */
const STACK_WIDTH = 86;

function Total({ row, best }: { row: Candidate; best: number | null }) {
  const total = row.total ?? 0;
  const behind = best == null ? 0 : best - total;
  const parts = row.cells.map((cell) => Math.max(0, cell.weighted ?? 0));
  const first = parts.slice(0, 4);
  const other = parts.slice(4).reduce((sum, part) => sum + part, 0);
  const scale = best != null && best > 0 ? STACK_WIDTH / best : 0;
  return (
    <td className="tot">
      <b>{score(total)}</b>
      {behind > 0 && <span className="df">{score(-behind)}</span>}
      <div className="stk" aria-hidden>
        {[...first, other].map((part, index) =>
          part > 0 ? (
            // oxlint-disable-next-line react/no-array-index-key
            <u key={index} className={`seg-${index}`} style={{ width: part * scale }} />
          ) : null,
        )}
      </div>
    </td>
  );
}
