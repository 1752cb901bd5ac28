import { type QueryKey, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ApiError } from '../api/client.ts';
import type { TypedDocumentString } from '../api/generated/graphql.ts';
import { useSubscription } from '../api/live.ts';
import { applyChange, type Change, emptyList, type LiveList } from '../api/live-list.ts';
import { usePollWhenStale } from '../api/polling.ts';
import { noticeServerTime } from '../api/server-clock.ts';

export interface LiveSource<T, TSub, TVariables> {
  key: QueryKey;
  /** Reads the whole collection over HTTP: the first paint, and the fallback while the socket is away. */
  load: (signal: AbortSignal) => Promise<readonly T[]>;
  document: TypedDocumentString<TSub, TVariables>;
  variables: TVariables;
  /** The event of this subscription as a change. */
  change: (data: TSub) => Change<T> & { at: string };
  idOf: (item: T) => string;
}

/**
 * A whole collection, live: read once, then kept by SNAPSHOT and changes; read every 10 s while the connection is STALE.
 * One component of the page keeps it `live`; others with the same key only read it.
 */
export function useLiveList<T, TSub, TVariables>(
  source: LiveSource<T, TSub, TVariables>,
  live = true,
  onChange?: (change: Change<T>) => void,
): UseQueryResult<LiveList<T>, ApiError> {
  const client = useQueryClient();
  const appliedAt = useRef(0);
  const query = useQuery<LiveList<T>, ApiError>({
    queryKey: source.key,
    queryFn: async ({ signal }) => {
      const started = Date.now();
      const items = await source.load(signal);
      const current = client.getQueryData<LiveList<T>>(source.key);
      if (!current) return emptyList(items);
      // An event that arrived meanwhile is newer than this answer. The stream goes on where it was.
      return appliedAt.current >= started ? current : { ...current, items };
    },
    refetchInterval: usePollWhenStale(),
  });
  const key = JSON.stringify(source.key);
  useEffect(() => {
    appliedAt.current = 0;
  }, [key]);
  useSubscription(
    source.document,
    source.variables,
    {
      next: (data) => {
        const change = source.change(data);
        noticeServerTime(change.at);
        appliedAt.current = Date.now();
        client.setQueryData<LiveList<T>>(source.key, (old) => applyChange(old ?? emptyList(), change, source.idOf));
        onChange?.(change);
      },
    },
    live,
  );
  return query;
}

/** True while nothing can be shown yet: not read, or the first snapshot still comes in. */
export function isFilling<T>(query: UseQueryResult<LiveList<T>, ApiError>): boolean {
  return (
    query.isPending || (query.data !== undefined && query.data.items.length === 0 && query.data.assembling !== null)
  );
}
