import { describe, expect, it } from 'vitest';
import { type LiveEvent, type LiveOptions, type LiveSource, liveView } from './live-view.ts';

interface Thing {
  key: string;
  mark: number;
}

/** A source that a test changes by hand. */
class Things implements LiveSource<Thing> {
  readonly now = new Map<string, number>();
  watchers = 0;
  loads = 0;
  #changed: (keys: Iterable<string> | 'all') => void = () => undefined;
  #lost: () => void = () => undefined;

  watch(changed: (keys: Iterable<string> | 'all') => void, lost: () => void): () => void {
    this.watchers += 1;
    this.#changed = changed;
    this.#lost = lost;
    return () => {
      this.watchers -= 1;
    };
  }
  set(key: string, mark: number): void {
    this.now.set(key, mark);
    this.#changed([key]);
  }
  remove(key: string): void {
    this.now.delete(key);
    this.#changed([key]);
  }
  lose(): void {
    this.#lost();
  }
  async *snapshot(size: number): AsyncGenerator<readonly Thing[]> {
    const all = [...this.now].map(([key, mark]) => ({ key, mark }));
    for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size);
  }
  load(keys: readonly string[]): Promise<readonly Thing[]> {
    this.loads += 1;
    return Promise.resolve(keys.flatMap((key) => (this.now.has(key) ? [{ key, mark: this.now.get(key) ?? 0 }] : [])));
  }
  keyOf = ({ key }: Thing): string => key;
  idOf = ({ key }: Thing): string => `id_${key}`;
  markOf = ({ mark }: Thing): number => mark;
}

const open = (things: Things, options: Partial<LiveOptions> = {}) =>
  liveView(things, { unsentBytes: () => 0, now: () => 0, coalesceMs: 0, ...options });

async function read(stream: AsyncGenerator<LiveEvent<Thing>, void, void>): Promise<LiveEvent<Thing>> {
  const item = await stream.next();
  if (item.done) throw new Error('the stream has ended');
  return item.value;
}

describe('a live view', () => {
  it('begins with a complete snapshot also where nothing matches', async () => {
    const stream = open(new Things());
    expect(await read(stream)).toMatchObject({ kind: 'SNAPSHOT', items: [], complete: true, sequence: 1 });
    await stream.return();
  });

  it('tells what came while the snapshot was read, and not what the snapshot had', async () => {
    const things = new Things();
    for (let i = 0; i < 300; i++) things.now.set(`t${i}`, 1);
    const stream = open(things);
    expect(await read(stream)).toMatchObject({ complete: false, items: { length: 250 } });
    things.set('t0', 2);
    things.set('t299', 1);
    expect(await read(stream)).toMatchObject({ complete: true, items: { length: 50 } });
    expect(await read(stream)).toMatchObject({ kind: 'UPDATED', items: [{ key: 't0', mark: 2 }], sequence: 3 });
    things.remove('t5');
    expect(await read(stream)).toMatchObject({ kind: 'REMOVED', items: [], removed: ['id_t5'] });
    await stream.return();
  });

  it('joins the changes of one entity', async () => {
    const things = new Things();
    things.now.set('busy', 0);
    const stream = open(things, { coalesceMs: 150 });
    await read(stream);
    let mark = 0;
    const timer = setInterval(() => things.set('busy', ++mark), 2);
    let events = 0;
    for (; events < 4; events++) expect((await read(stream)).items).toHaveLength(1);
    clearInterval(timer);
    // Without joining every change would have an event of its own.
    expect(mark).toBeGreaterThan(3 * events);
    await stream.return();
  });

  it('remembers a bounded number of changes for a reader that does not read, and then begins anew', async () => {
    const things = new Things();
    const stream = open(things, { maxPending: 100 });
    await read(stream);
    for (let i = 0; i < 100_000; i++) things.set(`t${i % 1000}`, i);
    expect(await read(stream)).toMatchObject({ kind: 'RESYNC', complete: true, items: [] });
    const first = await read(stream);
    expect(first).toMatchObject({ kind: 'SNAPSHOT', complete: false, items: { length: 250 } });
    expect(things.loads).toBe(0);
    await stream.return();
  });

  it('gives a reader with more than 1 MiB unsent a new snapshot when it has caught up', async () => {
    const things = new Things();
    let unsent = 0;
    const stream = open(things, { unsentBytes: () => unsent });
    await read(stream);
    unsent = 2_000_000;
    things.set('a', 1);
    const next = read(stream);
    setTimeout(() => {
      things.set('a', 2);
      unsent = 0;
    }, 50);
    expect(await next).toMatchObject({ kind: 'RESYNC' });
    expect(await read(stream)).toMatchObject({ kind: 'SNAPSHOT', items: [{ key: 'a', mark: 2 }] });
    expect(things.loads).toBe(0);
    await stream.return();
  });

  it('begins anew where news were lost', async () => {
    const things = new Things();
    const stream = open(things);
    await read(stream);
    things.lose();
    expect(await read(stream)).toMatchObject({ kind: 'RESYNC', sequence: 2 });
    expect(await read(stream)).toMatchObject({ kind: 'SNAPSHOT', sequence: 3 });
    await stream.return();
  });

  it('ends at once, also while it waits, and watches nothing any more', async () => {
    const things = new Things();
    for (let i = 0; i < 1_000; i++) {
      const stream = open(things);
      await read(stream);
      const waiting = stream.next();
      await stream.return();
      expect(await waiting).toEqual({ done: true, value: undefined });
    }
    expect(things.watchers).toBe(0);
  });
});
