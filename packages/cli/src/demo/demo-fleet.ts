import { type ChildProcess, spawn } from 'node:child_process';

export interface DemoWorker {
  readonly name: string;
  readonly role: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The demo's processes: two roles in two regions. */
export const demoWorkers: readonly DemoWorker[] = [
  { name: 'worker-eu', role: 'worker', labels: { region: 'eu', zone: 'eu-1' } },
  { name: 'worker-us', role: 'worker', labels: { region: 'us', zone: 'us-1' } },
  { name: 'gpu-eu', role: 'gpu-worker', labels: { region: 'eu', zone: 'eu-1', gpu: 'l4', 'model.small': 'warm' } },
  {
    name: 'gpu-us',
    role: 'gpu-worker',
    labels: { region: 'us', zone: 'us-1', gpu: 'a100', 'model.small': 'warm', 'model.large': 'warm' },
  },
];

export const demoCapacity = 4;

export interface DemoFleet {
  /** Asks all of them to finish and leave; resolves when they have gone, at the latest after `limitMs`. */
  stop(limitMs: number): Promise<void>;
}

export interface DemoFleetOptions {
  /** The command that starts this program again: executable, its options, the program. */
  readonly command: readonly [string, ...string[]];
  readonly server: string;
  readonly token: string;
  readonly onExit: (worker: DemoWorker, code: number | null) => void;
}

/**
 * Starts each worker of the demo as a process of its own. They hold the reading end of a pipe from this process and
 * leave when it breaks, so that none outlives it, however it ends. The token goes by environment, not by arguments that
 * others on the machine can list.
 */
export function startDemoFleet({ command, server, token, onExit }: DemoFleetOptions): DemoFleet {
  const [program, ...options] = command;
  const children = demoWorkers.map((worker) => {
    const labels = Object.entries(worker.labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
    const child = spawn(program, [...options, 'demo-worker', '--name', worker.name, '--role', worker.role, ...labels], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, MUSTER_SERVER: server, MUSTER_TOKEN: token },
    });
    child.once('exit', (code) => onExit(worker, code));
    child.once('error', () => onExit(worker, null));
    child.stdin.on('error', () => undefined);
    return child;
  });
  return {
    stop: async (limitMs) => {
      await Promise.all(children.map((child) => stopChild(child, limitMs)));
    },
  };
}

async function stopChild(child: ChildProcess, limitMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  child.kill('SIGTERM');
  await gone;
  clearTimeout(timer);
}
