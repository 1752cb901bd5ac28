import { isRecord, own } from '../policy/values.ts';
import { parseMemory, parsePackageRequirement, type PackageRequirement } from '../policy/resource-units.ts';
import type { WorkerFacts, WorkerPackage } from '../worker/worker-facts.ts';

/** Resource requests taken apart once per version; amounts in cores and bytes. */
export interface CompiledRequests {
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly disk: number | null;
  readonly gpu: number | null;
  readonly packages: readonly PackageRequirement[];
  /** What could not be read of a stored spec; such requests match no worker. */
  readonly unreadable: string | null;
}

/** One request that a worker does not meet, as texts for people. */
export interface Shortfall {
  readonly wanted: string;
  readonly had: string;
}

function amount(value: unknown): number | null | 'unreadable' {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 'unreadable';
}

/** null where nothing is requested (no spec at all); an empty spec still wants a worker with known resources. Never throws. */
export function compileRequests(spec: unknown): CompiledRequests | null {
  if (spec === undefined || spec === null) return null;
  if (!isRecord(spec)) {
    return { cpu: null, memory: null, disk: null, gpu: null, packages: [], unreadable: 'requests are not an object' };
  }
  const wrong: string[] = [];
  const read = (field: 'cpu' | 'disk' | 'gpu'): number | null => {
    const value = amount(own(spec, field));
    if (value !== 'unreadable') return value;
    wrong.push(field);
    return null;
  };
  const cpu = read('cpu');
  const disk = read('disk');
  const gpu = read('gpu');
  const memoryValue = own(spec, 'memory') ?? null;
  const memory = memoryValue === null ? null : parseMemory(memoryValue);
  if (memoryValue !== null && memory === null) wrong.push('memory');
  const packages: PackageRequirement[] = [];
  const list = own(spec, 'packages') ?? [];
  if (!Array.isArray(list)) wrong.push('packages');
  else {
    for (const text of list) {
      const requirement = parsePackageRequirement(text);
      if (requirement === null) wrong.push('packages');
      else packages.push(requirement);
    }
  }
  const unreadable = wrong.length === 0 ? null : `cannot read ${[...new Set(wrong)].join(', ')}`;
  return { cpu, memory, disk, gpu, packages, unreadable };
}

/** Whether a worker meets the requests (ruling 16). */
export function meetsRequests(requests: CompiledRequests | null, facts: WorkerFacts): boolean {
  if (requests === null) return true;
  const { resources } = facts;
  if (requests.unreadable !== null || resources === null) return false;
  return (
    enough(resources.cpu_available, requests.cpu) &&
    enough(resources.memory_available, requests.memory) &&
    enough(resources.disk_free, requests.disk) &&
    (requests.gpu === null || usableGpus(facts) >= requests.gpu) &&
    requests.packages.every((wanted) => hasPackage(facts.packages, wanted))
  );
}

/** Everything that a worker lacks, in the order cpu, memory, disk, gpu, packages; empty where it meets the requests. */
export function shortfalls(requests: CompiledRequests | null, facts: WorkerFacts): Shortfall[] {
  if (requests === null) return [];
  if (requests.unreadable !== null) return [{ wanted: 'readable requests', had: requests.unreadable }];
  const { resources } = facts;
  if (resources === null) return [{ wanted: 'known resources', had: 'none' }];
  const found: Shortfall[] = [];
  const check = (
    name: string,
    had: number | null | undefined,
    wanted: number | null,
    show: (n: number) => string,
  ): void => {
    if (wanted === null || enough(had, wanted)) return;
    found.push({ wanted: `${name} ${show(wanted)}`, had: typeof had === 'number' ? show(had) : 'unknown' });
  };
  check('cpu', resources.cpu_available, requests.cpu, String);
  check('memory', resources.memory_available, requests.memory, bytesText);
  check('disk', resources.disk_free, requests.disk, bytesText);
  check('gpu', usableGpus(facts), requests.gpu, String);
  for (const wanted of requests.packages) {
    if (hasPackage(facts.packages, wanted)) continue;
    const same = facts.packages.filter((p) => p.name.toLowerCase() === wanted.name);
    found.push({
      wanted: `package ${wanted.name}${wanted.operator === null ? '' : `${wanted.operator}${wanted.version}`}`,
      had: same.length === 0 ? 'none' : same.map((p) => p.version).join(', '),
    });
  }
  return found;
}

function enough(had: number | null | undefined, wanted: number | null): boolean {
  return wanted === null || (typeof had === 'number' && had >= wanted);
}

/** A GPU counts if some of its memory is free. */
function usableGpus(facts: WorkerFacts): number {
  return facts.resources?.gpus?.filter((gpu) => (gpu.memory_available ?? 0) > 0).length ?? 0;
}

function hasPackage(packages: readonly WorkerPackage[], wanted: PackageRequirement): boolean {
  return packages.some((p) => {
    if (p.name.toLowerCase() !== wanted.name) return false;
    if (wanted.operator === null || wanted.version === null) return true;
    return wanted.operator === '==' ? p.version === wanted.version : compareVersions(p.version, wanted.version) >= 0;
  });
}

/**
 * Dotted comparison: parts as numbers where both are digits, else as text; the shorter version is padded with 0. So
 * `1.26.0rc1` comes after `1.26.0`, as in the reference.
 */
function compareVersions(a: string, b: string): number {
  const left = a.split('.');
  const right = b.split('.');
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const x = left[i] ?? '0';
    const y = right[i] ?? '0';
    const difference = /^\d+$/.test(x) && /^\d+$/.test(y) ? compareDigits(x, y) : x < y ? -1 : x > y ? 1 : 0;
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareDigits(a: string, b: string): number {
  const x = a.replace(/^0+(?=\d)/, '');
  const y = b.replace(/^0+(?=\d)/, '');
  if (x.length !== y.length) return x.length - y.length;
  return x < y ? -1 : x > y ? 1 : 0;
}

function bytesText(bytes: number): string {
  const units = ['B', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(1))} ${units[unit]}`;
}
