import { CommandError, exitCodeOf, exitCodes } from '../exit-codes.ts';
import type { CommandContext } from './context.ts';

/** A GET of one of the REST routes. Errors: the server's own, with its exit code; 5 where it cannot be reached. */
export async function fetchRest(
  { connection: { url, token } }: Pick<CommandContext, 'connection'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly headers: Headers; readonly body: ReadableStream<Uint8Array> }> {
  const address = new URL(path, url);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  let response: Response;
  try {
    response = await fetch(address, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  } catch {
    throw new CommandError(`The server at ${url} cannot be reached.`, exitCodes.unavailable);
  }
  if (response.ok && response.body !== null) return { headers: response.headers, body: response.body };
  const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } };
  if (error === undefined) throw new CommandError(`The server answered ${response.status}.`, exitCodes.failed);
  throw new CommandError(error.message, exitCodeOf(error.code));
}
