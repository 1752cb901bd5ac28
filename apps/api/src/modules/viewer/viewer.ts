/** Who asks. Every service method takes one; what it may do is checked there. */
export interface Viewer {
  readonly name: string;
  readonly kind: 'person' | 'token' | 'worker' | 'execution';
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Whoever holds the bearer token of the installation, or logged in with a link that it printed. */
export const administrator: Viewer = Object.freeze({
  name: 'admin',
  kind: 'token',
  roles: ['admin'],
  permissions: ['*'],
});
