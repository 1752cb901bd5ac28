const READ = ['workflow:*:*:read', 'deployment:*:read', 'execution:*:read', 'worker:*:read', 'schedule:*:read'];

/**
 * The roles that every installation has and nobody can change (rulings, Permissions). `worker` holds no permission: what a worker's
 * credential lets it do, it lets it do as that one worker.
 */
export const BUILT_IN_ROLES: Readonly<Record<'admin' | 'operator' | 'viewer' | 'worker', readonly string[]>> = {
  admin: ['*'],
  operator: [
    ...READ,
    'workflow:*:*:run',
    'workflow:*:*:register',
    'deployment:*:run',
    'deployment:*:write',
    'execution:*:cancel',
    'worker:*:target',
    'worker:*:manage',
    'schedule:*:write',
  ],
  viewer: READ,
  worker: [],
};
