import { compareCodePoints } from '@muster/core';
import type { FleetWorker } from '../../fleet/worker-record.ts';

export type SelectorKind = 'LABEL' | 'METRIC' | 'META' | 'SERVICE';

export interface SelectorKeyView {
  kind: SelectorKind;
  key: string;
  workers: number;
  sampleValues: string[];
}

const SERVICE = 'flux.service.';
const MAX_SAMPLES = 5;

/** What the fleet really sends, most frequent first: keys that begin with `prefix`, how many workers have them, and a few values. */
export function selectorKeys(
  workers: readonly FleetWorker[],
  kind: SelectorKind,
  prefix: string,
  limit: number,
): SelectorKeyView[] {
  const found = new Map<string, { workers: number; samples: Set<string> }>();
  for (const worker of workers) {
    for (const [key, value] of entriesOf(worker, kind)) {
      if (!key.startsWith(prefix)) continue;
      const entry = found.get(key) ?? { workers: 0, samples: new Set() };
      entry.workers += 1;
      if (entry.samples.size < MAX_SAMPLES) entry.samples.add(value);
      found.set(key, entry);
    }
  }
  return [...found]
    .map(([key, entry]) => ({
      kind,
      key,
      workers: entry.workers,
      sampleValues: [...entry.samples].sort(compareCodePoints),
    }))
    .sort((a, b) => b.workers - a.workers || compareCodePoints(a.key, b.key))
    .slice(0, limit);
}

function entriesOf({ facts }: FleetWorker, kind: SelectorKind): [string, string][] {
  switch (kind) {
    case 'LABEL':
      return [...facts.labels].filter(([key]) => !key.startsWith(SERVICE));
    case 'SERVICE':
      return [...facts.labels]
        .filter(([key]) => key.startsWith(SERVICE))
        .map(([key, value]) => [key.slice(SERVICE.length), value]);
    case 'METRIC':
      return [...facts.metrics].map(([key, value]) => [key, String(value)]);
    case 'META':
      return [...facts.metadata].map(([key, value]) => [key, String(value)]);
  }
}
