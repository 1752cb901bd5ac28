import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MusterError } from '@muster/core';
import { TokenBuckets } from '../lib/token-buckets.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Authenticator } from './authenticate.ts';
import { limitKey } from './client-address.ts';

/** Per minute; 0: no such limit. */
export interface RateSettings {
  /** Requests and new sockets of one address. */
  readonly requests: number;
  /** Requests of one address that say who they are and are wrong, or do not say it. */
  readonly strangers: number;
  /** What the operations of one credential cost together; see `priceOf`. */
  readonly price: number;
}

/** No operation is cheaper than this, and every call of a REST route costs it. */
const LEAST_PRICE = 20;
/** How much of a minute's worth may be used at once. */
const BURST = 1 / 6;
const MAX_KEYS = 20_000;

export interface RateLimits {
  /** Counts a request or a new socket. Errors: RATE_LIMITED. */
  request(address: string | null): void;
  /** Counts somebody who does not say who he is. Errors: RATE_LIMITED. */
  stranger(address: string | null): void;
  /**
   * Runs `authenticate`, and counts it where it finds nobody. Where an address has done that too often, only credentials that were right before
   * are looked at. Errors: RATE_LIMITED, and those of `authenticate`.
   */
  knowing(
    address: string | null,
    credential: string,
    authenticate: () => Promise<Viewer | null>,
  ): Promise<Viewer | null>;
  /** Counts what an operation costs. `protocol`: it is one of those that a worker does its work by. Errors: RATE_LIMITED. */
  operation(viewer: Viewer | null, address: string | null, price: number, protocol: boolean): void;
}

/** In memory, for each replica by itself; what it keeps is bounded. `now`: ms that only rise. */
export function createRateLimits(settings: RateSettings, now: () => number): RateLimits {
  const bucketsOf = (perMinute: number, size: number): TokenBuckets | null =>
    perMinute === 0 ? null : new TokenBuckets({ size: Math.max(1, size), perMinute, maxKeys: MAX_KEYS, now });
  const requests = bucketsOf(settings.requests, settings.requests);
  const strangers = bucketsOf(settings.strangers, settings.strangers);
  const prices = bucketsOf(settings.price, settings.price * BURST);
  const familiar = new FamiliarCredentials();
  return {
    request(address) {
      refuseFor(requests?.take(limitKey(address), 1));
    },
    stranger(address) {
      refuseFor(strangers?.take(limitKey(address), 1));
    },
    async knowing(address, credential, authenticate) {
      if (strangers === null) return authenticate();
      const key = limitKey(address);
      const wait = strangers.wait(key, 1);
      if (wait > 0 && !familiar.has(credential)) refuseFor(wait);
      let viewer: Viewer | null = null;
      try {
        viewer = await authenticate();
        return viewer;
      } finally {
        if (viewer === null) strangers.take(key, 1);
        else familiar.add(credential);
      }
    },
    operation(viewer, address, price, protocol) {
      // A fleet that shares one token is not held up by its number; a worker with a credential of its own is counted by that.
      if (protocol && viewer?.kind !== 'worker') return;
      const cost = protocol ? LEAST_PRICE : Math.max(price, LEAST_PRICE);
      refuseFor(prices?.take(viewer === null ? limitKey(address) : credentialKey(viewer), cost));
    },
  };
}

/** What a REST call costs. */
export const CALL_PRICE = LEAST_PRICE;

/** The same authenticator, which counts what is wrong. Requests without any credential are counted where they want something. */
export function limitAuthenticator(inner: Authenticator, limits: RateLimits): Authenticator {
  const knowing = (request: IncomingMessage, authenticate: () => Promise<Viewer | null>): Promise<Viewer | null> => {
    const credential = request.headers.authorization ?? request.headers.cookie;
    return credential === undefined
      ? authenticate()
      : limits.knowing(inner.addressOf(request), credential, authenticate);
  };
  return {
    addressOf: inner.addressOf,
    viewerOf: (request, response) => knowing(request, () => inner.viewerOf(request, response)),
    viewerOfToken: (request) => knowing(request, () => inner.viewerOfToken(request)),
  };
}

function credentialKey({ credential, name }: Viewer): string {
  return 'id' in credential ? `${credential.kind} ${credential.id}` : `${credential.kind} ${name}`;
}

function refuseFor(seconds: number | undefined): void {
  if (seconds === undefined || seconds === 0) return;
  throw new MusterError('RATE_LIMITED', `Too many requests; try again in ${seconds} s.`, {
    details: { retryAfterSeconds: seconds },
  });
}

/** Hashes of the credentials that were right lately. */
class FamiliarCredentials {
  readonly #hashes = new Set<string>();

  has(credential: string): boolean {
    return this.#hashes.has(hashOf(credential));
  }

  add(credential: string): void {
    const hash = hashOf(credential);
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    if (this.#hashes.size > MAX_KEYS) this.#hashes.delete(this.#hashes.keys().next().value as string);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
