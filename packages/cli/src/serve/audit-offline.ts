import { ChainCheck } from '@muster/core';
import { knownHeads, printReport, type VerifyFlags } from '../commands/audit-verify.ts';
import { CommandError, type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** `muster audit verify --offline`: reads the database by itself, without a server that one would have to trust. */
export async function auditVerifyOffline(
  io: Io,
  flags: VerifyFlags & { readonly dataDir?: string },
): Promise<ExitCode> {
  const known = knownHeads(flags.known);
  const api = await import('@muster/api');
  const config = api.readConfig(io.env, flags.dataDir === undefined ? {} : { dataDir: flags.dataDir });
  let audit: Awaited<ReturnType<typeof api.openAudit>>;
  try {
    audit = await api.openAudit(config);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), exitCodes.failed);
  }
  try {
    const check = new ChainCheck([audit.head, ...known]);
    for await (const page of audit.entries()) for (const record of page) check.add(record);
    return printReport(io, check.end(), flags.json === true);
  } finally {
    await audit.close();
  }
}
