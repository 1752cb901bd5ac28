import { ExecutionShowDocument, ExecutionWhyDocument } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { executionDetailText } from '../output/execution-text.ts';
import { whyText } from '../output/why-text.ts';
import { type CommandContext, show } from './context.ts';

/** `muster execution show ID`. */
export async function executionShow(context: CommandContext, id: string): Promise<void> {
  const { execution } = await context.client.request(ExecutionShowDocument, { id });
  if (execution === null) throw new CommandError(`There is no execution ${id}.`, exitCodes.notFound);
  show(context, execution, (style) => executionDetailText(execution, Date.now(), style));
}

/** `muster why ID`: the explanation of where it is. */
export async function why(context: CommandContext, id: string): Promise<void> {
  const { execution } = await context.client.request(ExecutionWhyDocument, { id });
  if (execution === null) throw new CommandError(`There is no execution ${id}.`, exitCodes.notFound);
  show(context, execution, (style) => whyText(execution, Date.now(), style));
}
