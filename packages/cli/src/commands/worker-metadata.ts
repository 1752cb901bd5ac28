import {
  WorkerMetadataDocument,
  type WorkerMetadataQuery,
  WorkerMetadataSetDocument,
  WorkerMetadataUnsetDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { renderTable, titled } from '../output/table.ts';
import { ago, shortValue } from '../output/words.ts';
import { parsePairs } from '../settings/parse-arguments.ts';
import { type CommandContext, show } from './context.ts';

export interface MetadataSetFlags {
  /** Every value is text. */
  readonly string?: boolean;
  readonly replace?: boolean;
}

type Entries = NonNullable<WorkerMetadataQuery['worker']>['metadata'];

/** `muster worker metadata show NAME`. */
export async function metadataShow(context: CommandContext, name: string): Promise<void> {
  const { worker } = await context.client.request(WorkerMetadataDocument, { name });
  if (worker === null) throw new CommandError(`There is no worker ${name}.`, exitCodes.notFound);
  showEntries(context, worker.metadata);
}

/** `muster worker metadata set NAME KEY=VALUE…`: decimal numbers become numbers, unless `--string`. */
export async function metadataSet(
  context: CommandContext,
  name: string,
  pairs: readonly string[],
  flags: MetadataSetFlags,
): Promise<void> {
  const given = Object.entries(parsePairs(pairs, 'metadata set'));
  const metadata = Object.fromEntries(given.map(([key, text]) => [key, flags.string === true ? text : valueOf(text)]));
  const variables = { input: { worker: name, metadata, replace: flags.replace === true } };
  const { setWorkerMetadata } = await context.client.request(WorkerMetadataSetDocument, variables);
  showEntries(context, setWorkerMetadata.worker.metadata);
}

/** `muster worker metadata unset NAME KEY…`, and `clear` where the keys are null. */
export async function metadataUnset(
  context: CommandContext,
  name: string,
  keys: readonly string[] | null,
): Promise<void> {
  const variables = { input: keys === null ? { worker: name, all: true } : { worker: name, keys: [...keys] } };
  const { unsetWorkerMetadata } = await context.client.request(WorkerMetadataUnsetDocument, variables);
  showEntries(context, unsetWorkerMetadata.worker.metadata);
}

// One whole decimal literal is a number (ruling on values); everything else, `true` and `nan` too, is text.
function valueOf(text: string): string | number {
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : text;
}

function showEntries(context: CommandContext, entries: Entries): void {
  show(context, entries, (style) => {
    if (entries.length === 0) return 'No metadata.';
    const now = Date.now();
    const rows = entries.map(({ key, value, updatedAt, updatedBy }) => [
      key,
      shortValue(value, 256),
      typeof value === 'number' ? 'number' : 'text',
      `${ago(updatedAt, now)} ago`,
      updatedBy,
    ]);
    return renderTable(titled(['key', 'value', 'type', 'changed', 'by'], ['key', 'type', 'changed']), rows, style);
  });
}
