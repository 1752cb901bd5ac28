// Run it:  muster worker start examples/typescript/order-flow.ts
// Then:    muster workflow run examples/order '{"customer":"c-7","items":["lamp","desk"]}' --follow
//          muster execution resume <id> '{"approved":true}'
import { RetryableError, workflow } from '@muster/worker';

interface Order {
  readonly customer: string;
  readonly items: readonly string[];
}

/** What a payment service would do: it takes a key, and the same key twice is one payment. */
const payments = {
  taken: new Map<string, string>(),
  async take(customer: string, amount: number, options: { key: string; signal: AbortSignal }): Promise<string> {
    options.signal.throwIfAborted();
    if (amount > 100_000) throw new RetryableError('The bank asks to come back later.');
    const receipt = this.taken.get(options.key) ?? `${customer}-${amount}-${this.taken.size + 1}`;
    this.taken.set(options.key, receipt);
    return receipt;
  },
};

/** Packs one item. A child of `order`, which may run on any worker that has it. */
export const pack = workflow<{ item: string }, { item: string; parcel: string }>(
  { namespace: 'examples', name: 'pack', description: 'Packs one item of an order.' },
  async (ctx, { item }) => {
    const parcel = await ctx.task('print label', () => `parcel of ${item}`);
    await ctx.sleep(100);
    return { item, parcel };
  },
);

/** Survives its worker: what is done is done once, and while it waits it takes no slot. */
export const order = workflow<Order, object>(
  { namespace: 'examples', name: 'order', description: 'Takes an order, with an approval.', maxAttempts: 5 },
  async (ctx, { customer, items }) => {
    const total = await ctx.task('price', () => items.length * 250);

    if (total > 300) {
      ctx.log('waits for an approval', { total });
      const answer = await ctx.pause<{ approved: boolean }>('approval');
      if (!answer.approved) return { state: 'refused', total };
    }

    const receipt = await ctx.task(
      'charge',
      ({ attemptKey, signal }) => payments.take(customer, total, { key: attemptKey, signal }),
      { retries: 3, backoff: 200, timeout: 10_000 },
    );

    const parcels = await Promise.all(items.map((item) => ctx.call(pack, { item })));
    ctx.progress(1, 'packed');
    return { state: 'shipped', total, receipt, parcels, at: await ctx.now() };
  },
);
