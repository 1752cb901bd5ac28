import { describe, expect, it } from 'vitest';
import { createInProcessBus } from './in-process-bus.ts';

describe('the bus of one process', () => {
  it('delivers in order, after the publisher has gone on', async () => {
    const bus = createInProcessBus(() => undefined);
    const heard: string[] = [];
    bus.subscribe('wake', ({ reason }) => heard.push(reason));
    bus.publish('wake', { reason: 'a' });
    bus.publish('wake', { reason: 'b' });
    expect(heard).toEqual([]);
    await Promise.resolve();
    expect(heard).toEqual(['a', 'b']);
  });

  it('goes on when a handler throws, and tells nobody but the log', async () => {
    const errors: unknown[] = [];
    const bus = createInProcessBus((_topic, error) => errors.push(error));
    const heard: string[] = [];
    bus.subscribe('wake', () => {
      throw new Error('broken');
    });
    bus.subscribe('wake', ({ reason }) => heard.push(reason));
    bus.publish('wake', { reason: 'a' });
    await Promise.resolve();
    expect(heard).toEqual(['a']);
    expect(errors).toHaveLength(1);
  });

  it('lets a handler publish, and stops when asked to', async () => {
    const bus = createInProcessBus(() => undefined);
    const heard: string[] = [];
    const stop = bus.subscribe('wake', ({ reason }) => {
      heard.push(reason);
      if (reason === 'a') bus.publish('wake', { reason: 'b' });
    });
    bus.publish('wake', { reason: 'a' });
    await Promise.resolve();
    stop();
    bus.publish('wake', { reason: 'c' });
    await Promise.resolve();
    expect(heard).toEqual(['a', 'b']);
  });
});
