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

/** Several indexes, or places of one: each branch is read in order and merged, so that together they are read no further than `$3` ids. */
function merged(branches: readonly string[], distinct = false): string {
  if (branches.length === 1) return branches[0] as string;
  const all = branches.map((branch) => `(${branch})`).join(' UNION ALL ');
  return `SELECT ${distinct ? 'DISTINCT ' : ''}id FROM (${all}) AS b ORDER BY id DIR LIMIT $3`;
}

/** The queue's index begins with the priority: its few values are found by leaping from one to the next, and each has its ids in order. */
const QUEUE = `SELECT q.id FROM (
    WITH RECURSIVE p (priority) AS (
      (SELECT x.priority FROM execution x WHERE x.queued ORDER BY x.priority DESC LIMIT 1)
      UNION ALL
      SELECT (SELECT x.priority FROM execution x WHERE x.queued AND x.priority < p.priority ORDER BY x.priority DESC LIMIT 1) FROM p
      WHERE p.priority IS NOT NULL)
    SELECT priority FROM p WHERE priority IS NOT NULL) p
  CROSS JOIN LATERAL (${PICK('x.queued AND x.priority = p.priority')}) q ORDER BY q.id DIR LIMIT $3`;

function statesText(states: readonly ExecutionState[]): string {
  const has = (group: readonly ExecutionState[]): boolean => group.some((state) => states.includes(state));
  return merged([
    ...FINISHED.flatMap((state) =>
      states.includes(state) ? [PICK(`x.finished_state = ($4::text[])[${states.indexOf(state) + 1}]`)] : [],
    ),
    ...(has(LIVE) ? [PICK(`x.live AND ${STATES_GIVEN}`)] : []),
    ...(has(QUEUED) ? [QUEUE.replace('FROM p\n', `FROM p\n`)] : []),
    ...(has(['PAUSED']) ? [PICK(`x.waiting IS NOT NULL AND ${STATES_GIVEN}`)] : []),
  ]);
}
/** Picks the index that leaves the fewest rows, by what is known of such filters rather than of the data. */
export function chooseDriver(query: ExecutionQuery): Driver {
  if (query.ids) return { name: 'ids', text: PICK('x.id = ANY($4::uuid[])'), value: query.ids, covers: ['ids'] };
  if (query.parentId !== undefined)
    return { name: 'parent', text: PICK('x.parent_id = $4::uuid'), value: query.parentId, covers: ['parentId'] };
  if (query.sessionKey !== undefined)
    return { name: 'session', text: PICK('x.session_key = $4::text'), value: query.sessionKey, covers: ['sessionKey'] };
  if (query.search) {
    if (!('from' in query.search))
      return {
        name: 'session',
        text: PICK('x.session_key = $4::text'),
        value: query.search.sessionKey,
        covers: ['search'],
      };
    const { from, to, sessionKey } = query.search;
    return { name: 'search', text: SEARCH, value: [from, to, sessionKey], covers: ['search'] };
  }
  const states = query.states ?? (query.parked ? QUEUED : undefined);
  const open = states !== undefined && states.every((state) => !FINISHED.includes(state));
  if (open) return stateDriver(states, query);
  if (query.workerIds && query.workerIds.length <= 200)
    return { name: 'workers', text: WORKERS, value: query.workerIds, covers: ['workerIds'] };
  if (query.deploymentId !== undefined)
    return {
      name: 'deployment',
      text: PICK('x.deployment_id = $4::int'),
      value: query.deploymentId,
      covers: ['deploymentId'],
    };
  if (query.versionIds && query.versionIds.length <= 200)
    return { name: 'versions', text: VERSIONS, value: query.versionIds, covers: ['versionIds'] };
  if (states !== undefined && states.length <= 2) return stateDriver(states, query);
  return { name: 'all', text: PICK('$4::text IS NULL'), value: null, covers: [] };
}

/** The partial indexes know groups of states: a part of a group is still to be filtered. */
function stateDriver(states: readonly ExecutionState[], query: ExecutionQuery): Driver {
  const whole = (group: readonly ExecutionState[]): boolean =>
    group.every((s) => states.includes(s)) || group.every((s) => !states.includes(s));
  const covers: (keyof ExecutionQuery)[] =
    query.states === undefined || (whole(QUEUED) && whole(LIVE)) ? ['states'] : [];
  return { name: 'states', text: STATES, value: states, covers };
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
