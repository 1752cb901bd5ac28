import type { Clock } from './clock.ts';
import type { Config } from './config.ts';

/** Everything that resolvers may use; put together in `app.ts`. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
}
