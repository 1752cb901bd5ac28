import { statfs } from 'node:fs/promises';
import { availableParallelism, cpus, freemem, hostname, loadavg, platform, totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { WorkerResourcesInput } from '@muster/client';

/** A sample of the processors shorter than this says nothing. */
const shortestSampleMs = 200;

let reading = { times: cpuTimes(), at: performance.now() };

/**
 * What this machine has, for the registration. Bytes; what cannot be measured is left out. GPUs are not looked for.
 * Free cores are those that were idle since the last call, or since this module was loaded, for at least 0.2 s.
 */
export async function measureResources(): Promise<WorkerResourcesInput> {
  const waitMs = shortestSampleMs - (performance.now() - reading.at);
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  const before = reading.times;
  reading = { times: cpuTimes(), at: performance.now() };
  const total = reading.times.total - before.total;
  const idle = total > 0 ? 1 - (reading.times.busy - before.busy) / total : 1;
  const cores = availableParallelism();
  const disk = await statfs(process.cwd()).catch(() => undefined);
  return {
    cpuTotal: cores,
    cpuAvailable: Math.round(cores * idle * 100) / 100,
    memoryTotal: totalMemory(),
    memoryAvailable: availableMemory(),
    ...(disk === undefined ? {} : { diskTotal: disk.blocks * disk.bsize, diskFree: disk.bavail * disk.bsize }),
    gpus: [],
  };
}

/** Bytes that this process could still take: within its control group's limit, where there is one. */
export function availableMemory(): number {
  const available = (process as { availableMemory?: () => number }).availableMemory?.() ?? freemem();
  return Math.min(available, totalMemory());
}

/** Load of the last minute; null where the platform has none. */
export function loadAverage(): number | null {
  return platform() === 'win32' ? null : (loadavg()[0] ?? null);
}

/** Ticks of all cores since the machine started. */
export function cpuTimes(): { readonly busy: number; readonly total: number } {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.idle + times.irq;
    total += sum;
    busy += sum - times.idle;
  }
  return { busy, total };
}

/** The host's name in the shape that worker names have: letters, digits, `.`, `_`, `-`. */
export function hostnameAsName(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return name === '' ? 'host' : name.slice(0, 64).replace(/[^A-Za-z0-9]+$/, '');
}

function totalMemory(): number {
  const limit = (process as { constrainedMemory?: () => number | undefined }).constrainedMemory?.() ?? 0;
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
