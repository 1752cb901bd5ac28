import { MusterError } from '@muster/core';
import { encodeId } from '../../graphql/ids.ts';
import { MAX_COUNTED_WORK, WorkWaits } from './deployment-store.ts';

/**
 * What a user is told of `WorkWaits`: how many executions wait for which variants, and the first of them; the same as `waiting` in the extensions. Other errors
 * stay what they are.
 */
export function waitingConflict(error: unknown, field: string): unknown {
  if (!(error instanceof WorkWaits)) return error;
  const { count, variants } = error.work;
  const countExact = count <= MAX_COUNTED_WORK;
  const ids = error.work.ids.map((id) => encodeId('ex', id));
  const shown = Math.min(count, MAX_COUNTED_WORK);
  const what = `${countExact ? '' : 'More than '}${shown} ${shown === 1 ? 'execution' : 'executions'}`;
  const named = `${ids.join(', ')}${count > ids.length ? ' and more' : ''}`;
  return new MusterError(
    'CONFLICT',
    `${what} of ${variants.join(', ')} ${shown === 1 ? 'has' : 'have'} no worker yet: ${named}. Let them run or cancel them first; with force they stay, and keep their variant.`,
    { field, details: { waiting: { count: shown, countExact, variants, ids } }, cause: error },
  );
}
