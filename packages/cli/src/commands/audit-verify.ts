import { ChainCheck, type ChainHead, type ChainReport, type SealedRecord } from '@muster/core';
import { CommandError, type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { json } from '../output/words.ts';
import { fetchRest } from './fetch-rest.ts';
import type { CommandContext } from './context.ts';

/** Longest line that is taken: an entry is far below it. */
const MAX_LINE = 64 * 1_048_576;

export interface VerifyFlags {
  /** `position:hash`, as an earlier verification has printed it. */
  readonly known?: readonly string[];
  readonly json?: boolean;
}

/** `muster audit verify`, over the API: exit code 1 where the chain does not hold. */
export async function auditVerify(context: CommandContext, flags: VerifyFlags): Promise<ExitCode> {
  const known = knownHeads(flags.known);
  const { headers, body } = await fetchRest(context, '/admin/audit.jsonl', { order: 'position' });
  const head = headOf(headers.get('x-muster-audit-head') ?? '');
  if (head === null) throw new CommandError('The server is of a release that seals nothing.', exitCodes.failed);
  const check = new ChainCheck([head, ...known]);
  try {
    for await (const record of records(body)) check.add(record);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('The server broke off before the end: nothing is proved.', exitCodes.unavailable);
  }
  return printReport(context.io, check.end(), flags.json === true);
}

/** Errors: exit code 2 for what is none. */
export function knownHeads(texts: readonly string[] = []): ChainHead[] {
  return texts.map((text) => {
    const head = headOf(text);
    if (head === null) throw new CommandError('--known is a position and 64 hex digits: 812:9f86d0….', exitCodes.usage);
    return head;
  });
}

function headOf(text: string): ChainHead | null {
  const [, position, hash] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return position === undefined || hash === undefined ? null : { position: Number(position), hash };
}

export function printReport(io: Io, report: ChainReport, asJson: boolean): ExitCode {
  const { sealed, unsealed, head, problems, problemCount } = report;
  if (asJson) io.out(json(report));
  else {
    for (const { code, position, id, message } of problems) {
      const where = [position === null ? null : `position ${position}`, id].filter(Boolean).join(', ');
      io.out(`${code}  ${where}: ${message}`);
    }
    if (problemCount > problems.length) io.out(`… and ${problemCount - problems.length} more`);
    io.out(
      `${problemCount === 0 ? 'The chain holds' : 'The chain does NOT hold'}: ${sealed} sealed, ${unsealed} not sealed yet. Its end: ${head.position}:${head.hash}`,
    );
  }
  return problemCount === 0 ? exitCodes.ok : exitCodes.failed;
}

async function* records(body: ReadableStream<Uint8Array>): AsyncGenerator<SealedRecord, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new CommandError('A line is too long for an entry.', exitCodes.failed);
    for (const line of lines) yield JSON.parse(line) as SealedRecord;
  }
}
