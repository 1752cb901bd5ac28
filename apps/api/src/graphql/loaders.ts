import type { Services } from '../services.ts';

/** Batched reads, cached for one operation. */
export interface Loaders {
  readonly services: Services;
}

export function createLoaders(services: Services): Loaders {
  return { services };
}
