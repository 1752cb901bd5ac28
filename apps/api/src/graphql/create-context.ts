import { MusterError } from '@muster/core';
import type { Access } from '../modules/access/access.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Services } from '../services.ts';
import type { Context, CreateContext } from './context.ts';
import { createLoaders } from './loaders.ts';

export function contextFactory(services: Services, access: Access): CreateContext {
  return ({ viewer, address, requestId, unsentBytes }): Context => {
    const asking = (): Viewer => {
      const current = viewer && access.current(viewer);
      if (current !== null) return current;
      throw new MusterError(
        'UNAUTHENTICATED',
        viewer === null
          ? 'Send Authorization: Bearer with a token, or log in.'
          : 'The token or the session has ended; log in again.',
      );
    };
    return {
      get viewer() {
        return asking();
      },
      address,
      requestId,
      log: services.log,
      services,
      loaders: createLoaders(services, asking),
      unsentBytes,
      nodes: 0,
      renew() {
        this.loaders = createLoaders(services, asking);
        this.nodes = 0;
      },
      onEnd: (listener) => (viewer === null ? () => undefined : access.onEnd(viewer, listener)),
    };
  };
}
