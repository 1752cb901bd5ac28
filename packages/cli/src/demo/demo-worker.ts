import { Worker } from '@muster/worker';
import manifest from '../../package.json' with { type: 'json' };
import type { ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { endOf, lineLog } from '../commands/worker-start.ts';
import { parsePairs } from '../settings/parse-arguments.ts';
import { demoCapacity } from './demo-fleet.ts';
import { demoWorkflows } from './demo-workflows.ts';

export interface DemoWorkerFlags {
  readonly name: string;
  readonly role: string;
  readonly label?: readonly string[];
}

/** The hidden command behind the demo's processes: a worker that leaves with the process that started it. */
export async function demoWorker(io: Io, flags: DemoWorkerFlags): Promise<ExitCode> {
  const worker = new Worker({
    name: flags.name,
    role: flags.role,
    version: manifest.version,
    labels: parsePairs(flags.label ?? [], '--label'),
    capacity: demoCapacity,
    workflows: demoWorkflows,
    log: lineLog(io, 'warn', flags.name),
  });
  // The pipe breaks when the parent ends, also when it was killed.
  process.stdin.on('error', () => undefined);
  process.stdin.once('close', () => void worker.stop());
  process.stdin.resume();
  const code = await endOf(worker, io);
  process.stdin.destroy();
  return code;
}
