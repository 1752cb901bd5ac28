import type { Client } from '@muster/client';
import type { Io } from '../io.ts';
import type { Connection } from '../settings/connection.ts';
import { json } from '../output/words.ts';
import { type Style, styleFor } from '../output/style.ts';

/** What every command that asks the server gets. */
export interface CommandContext {
  readonly io: Io;
  readonly connection: Connection;
  readonly client: Client;
  readonly json: boolean;
}

/** Prints the answer as JSON where that was asked for, else as the text that `render` makes of it. */
export function show<T>(context: CommandContext, value: T, render: (style: Style) => string): void {
  context.io.out(context.json ? json(value) : render(styleFor(context.io.colour, context.io.columns)));
}
