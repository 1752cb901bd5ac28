import { describe, expect, it } from 'vitest';
import { type ConnectionInput, connectionStatus, initialConnection, nextConnection } from './connection.ts';

const after = (...inputs: ConnectionInput[]) => inputs.reduce(nextConnection, initialConnection(0));

describe('the connection', () => {
  it('is connecting at first, and says so again only after two seconds', () => {
    expect(connectionStatus(initialConnection(0), 1_999)).toBe('CONNECTING');
    expect(connectionStatus(initialConnection(0), 2_000)).toBe('RECONNECTING');
    expect(connectionStatus(initialConnection(0), 30_000)).toBe('STALE');
  });

  it('is live while open, and for a blink afterwards; then reconnecting, then stale, then live again', () => {
    const lost = after({ type: 'opened' }, { type: 'closed', at: 100_000 });
    expect(connectionStatus(after({ type: 'opened' }), 1_000_000)).toBe('LIVE');
    expect([101_999, 102_000, 129_999, 130_000].map((now) => connectionStatus(lost, now))).toEqual([
      'LIVE',
      'RECONNECTING',
      'RECONNECTING',
      'STALE',
    ]);
    expect(connectionStatus(nextConnection(lost, { type: 'opened' }), 140_000)).toBe('LIVE');
  });

  it('counts from the first loss, however often a retry fails', () => {
    const lost = after({ type: 'opened' }, { type: 'closed', at: 100_000 }, { type: 'closed', at: 125_000 });
    expect(connectionStatus(lost, 130_000)).toBe('STALE');
  });

  it('shows a pause until the data is stale', () => {
    const paused = after({ type: 'opened' }, { type: 'paused' });
    expect(connectionStatus(paused, 5)).toBe('PAUSED');
    const lost = nextConnection(paused, { type: 'closed', at: 10 });
    expect(connectionStatus(lost, 20_000)).toBe('PAUSED');
    expect(connectionStatus(lost, 30_010)).toBe('STALE');
    expect(connectionStatus(nextConnection(paused, { type: 'resumed' }), 5)).toBe('LIVE');
  });
});
