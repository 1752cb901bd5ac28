import { describe, expect, it } from 'vitest';
import { effectiveAvailability, type LivenessFacts, liveness, livenessWindows } from './liveness.ts';

const windows = livenessWindows({ heartbeatSeconds: 10, staleSeconds: 30, offlineSeconds: 60 });
const facts = (over: Partial<LivenessFacts> = {}): LivenessFacts => ({
  registeredAt: 0,
  lastSeenAt: 100_000,
  observedSince: 0,
  leftAt: null,
  healthy: true,
  checks: [{ name: 'disk', healthy: true }],
  connected: true,
  availability: 'ACTIVE',
  ...over,
});
const at = (now: number, over: Partial<LivenessFacts> = {}): string => liveness(facts(over), now, windows).status;

describe('windows', () => {
  it('are three heartbeats, never less than the setting, and the same grace beyond', () => {
    expect(windows).toEqual({ staleMs: 30_000, offlineMs: 60_000 });
    expect(livenessWindows({ heartbeatSeconds: 30, staleSeconds: 30, offlineSeconds: 60 })).toEqual({
      staleMs: 90_000,
      offlineMs: 120_000,
    });
    expect(livenessWindows({ heartbeatSeconds: 1, staleSeconds: 3, offlineSeconds: 5 })).toEqual({
      staleMs: 3000,
      offlineMs: 5000,
    });
    expect(livenessWindows({ heartbeatSeconds: 1, staleSeconds: 9, offlineSeconds: 5 })).toEqual({
      staleMs: 9000,
      offlineMs: 9000,
    });
  });
});

describe('liveness', () => {
  it('goes from HEALTHY over STALE to OFFLINE by silence alone', () => {
    expect(at(100_000)).toBe('HEALTHY');
    expect(at(129_999)).toBe('HEALTHY');
    expect(at(130_000)).toBe('STALE');
    expect(at(159_999)).toBe('STALE');
    expect(at(160_000)).toBe('OFFLINE');
  });

  it('says how long silence may still go on', () => {
    expect(liveness(facts(), 110_000, windows).changesInMs).toBe(20_000);
    expect(liveness(facts(), 140_000, windows).changesInMs).toBe(20_000);
    expect(liveness(facts(), 170_000, windows).changesInMs).toBeNull();
  });

  it('forgives a heartbeat that is late by half its period', () => {
    expect(at(115_000)).toBe('HEALTHY');
  });

  it('knows no clock but the server’s: arrival in the future is no age', () => {
    const verdict = liveness(facts({ lastSeenAt: 220_000 }), 100_000, windows);
    expect(verdict.status).toBe('HEALTHY');
    expect(verdict.silentMs).toBe(0);
  });

  it('gives work to none that is killed, however healthy it last said it was', () => {
    const verdict = liveness(facts(), 131_000, windows);
    expect(verdict).toMatchObject({ status: 'STALE', eligible: false, reasons: ['no heartbeat for 31 s'] });
  });

  it('reads no row from before the restart as life', () => {
    expect(at(17 * 3_600_000)).toBe('OFFLINE');
    const unheard = { lastSeenAt: null, observedSince: 1_000_000 };
    expect(liveness(facts(unheard), 1_000_001, windows)).toMatchObject({
      status: 'STALE',
      eligible: false,
      reasons: ['not heard since the server started'],
    });
    expect(at(1_059_999, unheard)).toBe('STALE');
    expect(at(1_060_000, unheard)).toBe('OFFLINE');
    expect(at(1_002_000, { ...unheard, lastSeenAt: 1_001_000 })).toBe('HEALTHY');
  });

  it('takes a registration as the first sign of life', () => {
    expect(at(1_005_000, { lastSeenAt: null, observedSince: 900_000, registeredAt: 1_000_000 })).toBe('HEALTHY');
    expect(at(1_005_000, { lastSeenAt: 10, registeredAt: 1_000_000 })).toBe('HEALTHY');
  });

  it('believes a goodbye at once, until the worker is heard again', () => {
    expect(liveness(facts({ leftAt: 100_500, connected: false }), 100_600, windows)).toMatchObject({
      status: 'OFFLINE',
      reasons: ['said goodbye'],
      changesInMs: null,
    });
    expect(at(102_000, { leftAt: 100_500, lastSeenAt: 101_000 })).toBe('HEALTHY');
  });

  it('names every failing check', () => {
    const checks = [
      { name: 'disk', healthy: false, message: '98 % full' },
      { name: 'gpu', healthy: false },
      { name: 'net', healthy: true },
    ];
    expect(liveness(facts({ checks }), 100_000, windows)).toMatchObject({
      status: 'UNHEALTHY',
      reasons: ['check disk failing: 98 % full', 'check gpu failing'],
    });
    expect(liveness(facts({ healthy: false }), 100_000, windows).reasons).toEqual(['reports itself unhealthy']);
  });

  it('gives nothing to a worker that is cut off, cordoned or draining', () => {
    expect(liveness(facts(), 100_000, windows)).toMatchObject({ eligible: true, reasons: [] });
    const cut = liveness(facts({ connected: false }), 100_000, windows);
    expect(cut).toMatchObject({ status: 'HEALTHY', eligible: false, reasons: ['not connected'] });
    for (const availability of ['CORDONED', 'DRAINING'] as const) {
      expect(liveness(facts({ availability }), 100_000, windows).eligible).toBe(false);
    }
  });

  it('lets a worker drain itself out of any availability', () => {
    expect(effectiveAvailability('CORDONED', true)).toBe('DRAINING');
    expect(effectiveAvailability('CORDONED', false)).toBe('CORDONED');
  });
});
