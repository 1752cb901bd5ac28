import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../support/server.ts';
import type { Chance } from './chance.ts';
import type { SoakMember } from './soak-member.ts';

/** What befalls a worker. */
const blows = ['kill', 'freeze', 'stop', 'cut'] as const;

export interface DisturbanceOptions {
  readonly chance: Chance;
  /** Ends every lane; what is broken is whole again when `disturb` resolves. */
  readonly signal: AbortSignal;
  /** Seconds between two blows at the same worker. */
  readonly pauseSeconds: readonly [number, number];
  /** Seconds that a frozen or cut off worker stays so. */
  readonly outageSeconds: readonly [number, number];
  /** Seconds between two kills of a server. */
  readonly serverSeconds: number;
}

/** How often each thing was done. */
export type Blows = Record<(typeof blows)[number] | 'server', number>;

/** Strikes workers at random and kills servers by the clock until the signal fires; then everything runs again. */
export async function disturb(
  members: readonly SoakMember[],
  nextServer: () => Promise<Server>,
  options: DisturbanceOptions,
): Promise<Blows> {
  const done: Blows = { kill: 0, freeze: 0, stop: 0, cut: 0, server: 0 };
  const { chance, signal, pauseSeconds, outageSeconds, serverSeconds } = options;
  const over = (): boolean => signal.aborted;
  const rest = (seconds: number): Promise<void> => delay(seconds * 1000, undefined, { signal }).catch(() => undefined);

  async function strike(member: SoakMember): Promise<void> {
    while (!over()) {
      await rest(chance.between(...pauseSeconds));
      if (over()) return;
      const blow = chance.of(blows);
      done[blow] += 1;
      if (blow === 'kill' || blow === 'stop') {
        await member.end(blow === 'kill' ? 'SIGKILL' : 'SIGTERM');
        member.start();
      } else if (blow === 'freeze') {
        member.freeze();
        await rest(chance.between(...outageSeconds));
        member.thaw();
      } else {
        member.cut();
        await rest(chance.between(...outageSeconds));
        member.mend();
      }
    }
  }

  async function strikeServers(): Promise<void> {
    for (;;) {
      await rest(serverSeconds);
      if (over()) return;
      const server = await nextServer();
      done.server += 1;
      await server.kill();
      await server.start();
    }
  }

  await Promise.all([strikeServers(), ...members.map(strike)]);
  return done;
}
