import type { ExecutionState } from '@muster/core';

/** What a list of executions is narrowed to, resolved to keys of the database. All are ANDed, a list is ORed. */
export interface ExecutionQuery {
  ids?: readonly string[] | undefined;
  states?: readonly ExecutionState[] | undefined;
  versionIds?: readonly number[] | undefined;
  deploymentId?: number | undefined;
  variant?: string | undefined;
  /** Workers that have or had it. */
  workerIds?: readonly number[] | undefined;
  parked?: boolean | undefined;
  sessionKey?: string | undefined;
  parentId?: string | undefined;
  /** What a schedule started. */
  scheduleId?: number | undefined;
  requiredWorker?: string | undefined;
  /** Smallest and largest raw id of a prefix; the same text may be a session key instead. */
  search?: { from: string; to: string; sessionKey: string } | { sessionKey: string } | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  finishedAfter?: Date | undefined;
  finishedBefore?: Date | undefined;
  parkedBefore?: Date | undefined;
}

/** Rows that one request walks at most, newest first. */
export const MAX_WALK = 20_000;
/** Workers or versions that are looked up each by itself; more of them are filtered from the newest rows. */
const MAX_BRANCHES = 100;

const QUEUED: readonly ExecutionState[] = ['PENDING', 'RESUMING'];
const LIVE: readonly ExecutionState[] = ['SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING'];
const FINISHED: readonly ExecutionState[] = ['COMPLETED', 'FAILED', 'CANCELLED'];

/** How the ids of a query are found: by one index, from which the rest is filtered. */
export interface Driver {
  readonly name: string;
  /** Selects ids; `$1` newest bound (exclusive), `$2` oldest bound (exclusive), `$3` how many, `$4` the driver's own value. `DIR` is the order. */
  readonly text: string;
  readonly value: unknown;
  /** Conditions that the driver fulfils by itself. */
  readonly covers: readonly (keyof ExecutionQuery)[];
}

const RANGE = '($1::uuid IS NULL OR x.id < $1) AND ($2::uuid IS NULL OR x.id > $2)';
const PICK = (condition: string): string =>
  `SELECT x.id FROM execution x WHERE ${condition} AND ${RANGE} ORDER BY x.id DIR LIMIT $3`;

type Indexed =
  | 'version_id'
  | 'deployment_id'
  | 'worker_id'
  | 'session_key'
  | 'parent_id'
  | 'schedule_id'
  | 'finished_state';

const CEILING = "COALESCE($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')";
const FLOOR = "COALESCE($2::uuid, '00000000-0000-0000-0000-000000000000')";
/** A range of the index (column, id); the predicates of partial indexes are spelled out. */
const SPAN = (column: Indexed, value: string): string =>
  `x.${column} IS NOT NULL AND (x.${column}, x.id) < (${value}, ${CEILING}) AND (x.${column}, x.id) > (${value}, ${FLOOR})`;

/**
 * The newest of one value of an indexed column, in the order of that index: with a plain equality the planner may walk the primary key instead, which takes the
 * whole table where the value was frequent once and is not any more.
 */
function pickBy(column: Indexed, value: string): string {
  return `SELECT x.id FROM execution x WHERE ${SPAN(column, value)} ORDER BY x.${column} DIR, x.id DIR LIMIT $3`;
}

/** Each branch is read in the order of ids and they are merged, so that together they are read no further than a page needs. */
function merged(branches: readonly string[]): string {
  return branches.map((branch) => `(${branch})`).join(' UNION ALL ');
}

/** One branch for every element of `$4`. The equality keeps the order by id alone, the span keeps the planner off the primary key. */
function branchesBy(column: Indexed, values: readonly unknown[], type: string): string[] {
  return values.map((_value, index) => {
    const value = `($4::${type}[])[${index + 1}]`;
    return values.length === 1 ? pickBy(column, value) : PICK(`x.${column} = ${value} AND ${SPAN(column, value)}`);
  });
}

function mergedText(branches: readonly string[]): string {
  const [first = ''] = branches;
  return branches.length === 1 ? first : `SELECT id FROM (${merged(branches)}) AS b ORDER BY id DIR LIMIT $3`;
}

/** What workers have or had: the same execution may come from both, and more than once from the second, then one after the other. */
function workersText(ids: readonly number[]): string {
  const before = ids.map(
    (_id, index) => `SELECT a.execution_id AS id FROM attempt a WHERE a.worker_id = ($4::int[])[${index + 1}]
    AND ${RANGE.replaceAll('x.id', 'a.execution_id')} ORDER BY a.execution_id DIR LIMIT $3`,
  );
  return `SELECT id FROM (
    SELECT id, lag(id) OVER (ORDER BY id DIR) AS previous FROM (${merged([...branchesBy('worker_id', ids, 'int'), ...before])}) AS b
  ) AS c WHERE previous IS DISTINCT FROM id ORDER BY id DIR LIMIT $3`;
}

const GIVEN = '$4::text[] IS NOT NULL';

/** The queue's index begins with the priority: its few values are found by leaping from one to the next, and below each lie its ids in order. */
const QUEUE = `SELECT q.id FROM (
    WITH RECURSIVE leap (priority) AS (
      (SELECT x.priority FROM execution x WHERE x.queued ORDER BY x.priority DESC LIMIT 1)
      UNION ALL
      SELECT (SELECT x.priority FROM execution x WHERE x.queued AND x.priority < leap.priority ORDER BY x.priority DESC LIMIT 1)
      FROM leap WHERE leap.priority IS NOT NULL)
    SELECT priority FROM leap WHERE priority IS NOT NULL) p
  CROSS JOIN LATERAL (${PICK(`x.queued AND x.priority = p.priority AND ${GIVEN}`)}) q ORDER BY q.id DIR LIMIT $3`;

function statesText(states: readonly ExecutionState[]): string {
  const has = (group: readonly ExecutionState[]): boolean => group.some((state) => states.includes(state));
  const ended = branchesBy('finished_state', states, 'text');
  return mergedText([
    ...ended.filter((_branch, index) => FINISHED.includes(states[index] as ExecutionState)),
    ...(has(LIVE) ? [PICK(`x.live AND ${GIVEN}`)] : []),
    ...(has(QUEUED) ? [QUEUE] : []),
    ...(has(['PAUSED']) ? [PICK(`x.waiting IS NOT NULL AND ${GIVEN}`)] : []),
  ]);
}

const SEARCH = `SELECT id FROM (
    (${PICK('x.id BETWEEN ($4::text[])[1]::uuid AND ($4::text[])[2]::uuid')})
    UNION (${pickBy('session_key', '($4::text[])[3]')})
  ) AS b ORDER BY id DIR LIMIT $3`;

/** Picks the index that leaves the fewest rows, by what is known of such filters rather than of the data. */
export function chooseDriver(query: ExecutionQuery): Driver {
  if (query.ids) return { name: 'ids', text: PICK('x.id = ANY($4::uuid[])'), value: query.ids, covers: ['ids'] };
  if (query.parentId !== undefined)
    return { name: 'parent', text: pickBy('parent_id', '$4::uuid'), value: query.parentId, covers: ['parentId'] };
  if (query.scheduleId !== undefined)
    return {
      name: 'schedule',
      text: pickBy('schedule_id', '$4::int'),
      value: query.scheduleId,
      covers: ['scheduleId'],
    };
  if (query.sessionKey !== undefined)
    return {
      name: 'session',
      text: pickBy('session_key', '$4::text'),
      value: query.sessionKey,
      covers: ['sessionKey'],
    };
  if (query.search) {
    if (!('from' in query.search))
      return {
        name: 'session',
        text: pickBy('session_key', '$4::text'),
        value: query.search.sessionKey,
        covers: ['search'],
      };
    const { from, to, sessionKey } = query.search;
    return { name: 'search', text: SEARCH, value: [from, to, sessionKey], covers: ['search'] };
  }
  const states = query.states ?? (query.parked ? QUEUED : undefined);
  const open = states !== undefined && states.every((state) => !FINISHED.includes(state));
  if (open) return stateDriver(states, query);
  if (query.workerIds && query.workerIds.length <= MAX_BRANCHES)
    return { name: 'workers', text: workersText(query.workerIds), value: query.workerIds, covers: ['workerIds'] };
  if (query.deploymentId !== undefined)
    return {
      name: 'deployment',
      text: pickBy('deployment_id', '$4::int'),
      value: query.deploymentId,
      covers: ['deploymentId'],
    };
  if (query.versionIds && query.versionIds.length <= MAX_BRANCHES)
    return {
      name: 'versions',
      text: mergedText(branchesBy('version_id', query.versionIds, 'int')),
      value: query.versionIds,
      covers: ['versionIds'],
    };
  if (states !== undefined && states.length <= 2) return stateDriver(states, query);
  return { name: 'all', text: PICK('$4::text IS NULL'), value: null, covers: [] };
}

/** The partial indexes know groups of states: a part of a group is still to be filtered. */
function stateDriver(states: readonly ExecutionState[], query: ExecutionQuery): Driver {
  const whole = (group: readonly ExecutionState[]): boolean =>
    group.every((s) => states.includes(s)) || group.every((s) => !states.includes(s));
  const covers: (keyof ExecutionQuery)[] =
    query.states === undefined || (whole(QUEUED) && whole(LIVE)) ? ['states'] : [];
  return { name: 'states', text: statesText(states), value: states, covers };
}

/** The conditions that a driver leaves, over `x`; parameters from `$first`. null: nothing is left. */
export function residualOf(
  query: ExecutionQuery,
  driver: Driver,
  first: number,
): { text: string; values: unknown[] } | null {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (key: keyof ExecutionQuery, condition: string, value: unknown): void => {
    if (query[key] === undefined || driver.covers.includes(key)) return;
    conditions.push(condition.replaceAll('$', `$${first + values.length}`));
    values.push(value);
  };
  add('ids', 'x.id = ANY($::uuid[])', query.ids);
  add('states', 'x.state = ANY($::text[])', query.states);
  add('versionIds', 'x.version_id = ANY($::int[])', query.versionIds);
  add('deploymentId', 'x.deployment_id = $::int', query.deploymentId);
  add('variant', 'x.variant = $::text', query.variant);
  add(
    'workerIds',
    '(x.worker_id = ANY($::int[]) OR EXISTS (SELECT FROM attempt a WHERE a.execution_id = x.id AND a.worker_id = ANY($::int[])))',
    query.workerIds,
  );
  add('parked', 'x.parked = $::bool', query.parked);
  add('sessionKey', 'x.session_key = $::text', query.sessionKey);
  add('parentId', 'x.parent_id = $::uuid', query.parentId);
  add('scheduleId', 'x.schedule_id = $::int', query.scheduleId);
  add('requiredWorker', 'x.required_worker = $::text', query.requiredWorker);
  if (query.search && 'from' in query.search) {
    const { from, to, sessionKey } = query.search;
    add('search', '(x.id BETWEEN ($::text[])[1]::uuid AND ($::text[])[2]::uuid OR x.session_key = ($::text[])[3])', [
      from,
      to,
      sessionKey,
    ]);
  } else add('search', 'x.session_key = $::text', query.search?.sessionKey);
  add('createdAfter', 'x.created_at >= $::timestamptz', query.createdAfter);
  add('createdBefore', 'x.created_at < $::timestamptz', query.createdBefore);
  add('finishedAfter', 'x.finished_at >= $::timestamptz', query.finishedAfter);
  add('finishedBefore', 'x.finished_at < $::timestamptz', query.finishedBefore);
  add('parkedBefore', '(x.parked AND x.parked_since < $::timestamptz)', query.parkedBefore);
  return conditions.length === 0 ? null : { text: conditions.join(' AND '), values };
}
