import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startTestApp, type TestApp, until } from '../../testing/test-app.ts';

let app: TestApp;
let made = 0;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const CREATE_PRINCIPAL =
  'mutation ($input: CreatePrincipalInput!) { createPrincipal(input: $input) { principal { id name kind roles permissions disabled hasPassword revision createdBy } } }';
const UPDATE_PRINCIPAL =
  'mutation ($input: UpdatePrincipalInput!) { updatePrincipal(input: $input) { principal { revision roles disabled } } }';
const CREATE_TOKEN =
  'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { secret token { id prefix name scopes status principal { name } } } }';
const CREATE_ROLE =
  'mutation ($input: CreateAccessRoleInput!) { createAccessRole(input: $input) { role { name permissions builtIn revision } } }';
const UPDATE_ROLE =
  'mutation ($input: UpdateAccessRoleInput!) { updateAccessRole(input: $input) { role { permissions revision } } }';

/** As `post`, by a token. */
const as = (token: string, query: string, variables?: Record<string, unknown>): Promise<Answer> =>
  app.post(query, variables, { authorization: `Bearer ${token}` });

const codeOf = ({ errors }: Answer): string => errors[0]?.extensions.code ?? 'done';

/** A principal with these roles, and a token of it. */
async function somebody(
  roles: readonly string[],
  scopes: readonly string[] = [],
): Promise<{ name: string; token: string; id: string }> {
  const name = `p-${(made += 1)}`;
  await app.ask(CREATE_PRINCIPAL, { input: { name, kind: 'SERVICE', roles } });
  const { createApiToken } = await app.ask(CREATE_TOKEN, { input: { principal: name, name: 'test', scopes } });
  return { name, token: createApiToken.secret, id: createApiToken.token.id };
}

async function role(permissions: readonly string[]): Promise<string> {
  const name = `r-${(made += 1)}`;
  await app.ask(CREATE_ROLE, { input: { name, permissions } });
  return name;
}

const audited = (action: string, target: string): Promise<{ actor: string; data: unknown; request_id: string }[]> =>
  app.plane.database
    .query<{ actor: string; data: unknown; request_id: string }>(
      'SELECT actor, data, request_id FROM audit WHERE action = $1 AND target = $2 ORDER BY id',
      [action, target],
    )
    .then(({ rows }) => rows);

describe('an API token', () => {
  it('is shown once, kept as a hash, and lets its principal in with what its scopes leave', async () => {
    const { name, token, id } = await somebody(['viewer'], ['worker:*:read', 'admin:*']);
    expect(token).toMatch(/^mst_[A-Za-z0-9_-]{43}$/);
    const { data } = await as(token, '{ viewer { name kind roles permissions principal { name } session { id } } }');
    expect(data.viewer).toEqual({
      name,
      kind: 'SERVICE',
      roles: ['viewer'],
      permissions: ['worker:*:read'],
      principal: { name },
      session: null,
    });
    const { apiTokens } = await app.ask(
      'query ($p: String) { apiTokens(filter: { principal: $p }) { totalCount nodes { id prefix } } }',
      { p: name },
    );
    expect(apiTokens).toEqual({ totalCount: 1, nodes: [{ id, prefix: token.slice(0, 10) }] });
    const { rows } = await app.plane.database.query<{ text: string }>(
      'SELECT t::text AS text FROM token t UNION ALL SELECT a::text FROM audit a',
    );
    expect(rows.some(({ text }) => text.includes(token))).toBe(false);
    expect(app.lines.join('\n')).not.toContain(token);
  });

  it('notes its last use in batches', async () => {
    const { token, id } = await somebody(['viewer']);
    const lastUsed = async (): Promise<string | null> =>
      (await app.ask('query ($id: ID!) { node(id: $id) { ... on ApiToken { lastUsedAt } } }', { id })).node.lastUsedAt;
    expect(await lastUsed()).toBeNull();
    await as(token, '{ viewer { name } }');
    await until(async () => (await lastUsed()) !== null, 'the use');
  });

  it('ends at its time, and when it is revoked', async () => {
    const { name, token, id } = await somebody(['viewer']);
    expect(
      codeOf(
        await app.post(CREATE_TOKEN, { input: { principal: name, name: 'late', expiresAt: '2020-01-01T00:00:00Z' } }),
      ),
    ).toBe('BAD_INPUT');
    const ends = app.plane.database.now() + 3_000;
    const { createApiToken } = await app.ask(CREATE_TOKEN, {
      input: { principal: name, name: 'brief', expiresAt: new Date(ends).toISOString() },
    });
    await until(
      async () => codeOf(await as(createApiToken.secret, '{ viewer { name } }')) === 'UNAUTHENTICATED',
      'the end',
    );
    expect(app.plane.database.now()).toBeGreaterThanOrEqual(ends);
    expect(codeOf(await as(token, '{ viewer { name } }'))).toBe('done');
    const revoke = 'mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { status } } }';
    expect((await app.ask(revoke, { id })).revokeApiToken.token.status).toBe('REVOKED');
    const after = await as(token, '{ viewer { name } }');
    expect([after.status, codeOf(after)]).toEqual([401, 'UNAUTHENTICATED']);
    // Twice is once.
    expect((await app.ask(revoke, { id })).revokeApiToken.token.status).toBe('REVOKED');
    expect(await audited('token.revoke', `token:${id}`)).toHaveLength(1);
  });

  it('is made for oneself within what one may, and shows nobody the tokens of others', async () => {
    const mine = await somebody(['viewer']);
    const other = await somebody(['viewer']);
    const own = await as(mine.token, CREATE_TOKEN, { input: { name: 'second', scopes: ['worker:*:read'] } });
    expect(own.data.createApiToken.token.principal.name).toBe(mine.name);
    expect(codeOf(await as(mine.token, CREATE_TOKEN, { input: { name: 'more', scopes: ['worker:*:manage'] } }))).toBe(
      'FORBIDDEN',
    );
    expect(codeOf(await as(mine.token, CREATE_TOKEN, { input: { name: 'his', principal: other.name } }))).toBe(
      'FORBIDDEN',
    );
    const listed = await as(mine.token, '{ apiTokens { totalCount nodes { principal { name } } } }');
    expect(listed.data.apiTokens.totalCount).toBe(2);
    const his = await as(mine.token, 'query ($p: String) { apiTokens(filter: { principal: $p }) { totalCount } }', {
      p: other.name,
    });
    expect(his.data.apiTokens.totalCount).toBe(0);
    const node = 'query ($id: ID!) { node(id: $id) { id } }';
    expect((await as(mine.token, node, { id: other.id })).data.node).toBeNull();
    const revoke = 'mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { id } } }';
    expect(codeOf(await as(mine.token, revoke, { id: other.id }))).toBe('NOT_FOUND');
    expect(codeOf(await as(mine.token, revoke, { id: 'tk_999999' }))).toBe('NOT_FOUND');
    expect(codeOf(await as(mine.token, revoke, { id: mine.id }))).toBe('done');
  });

  it('that is narrow makes none that is wider, and one that ends makes none that lives longer', async () => {
    const narrow = await somebody(['operator'], ['worker:*:read']);
    expect(codeOf(await as(narrow.token, CREATE_TOKEN, { input: { name: 'wide' } }))).toBe('FORBIDDEN');
    const expiresAt = new Date(app.plane.database.now() + 600_000).toISOString();
    const { createApiToken } = await app.ask(CREATE_TOKEN, {
      input: { principal: narrow.name, name: 'hour', expiresAt },
    });
    const longer = await as(createApiToken.secret, CREATE_TOKEN, { input: { name: 'for ever' } });
    expect([codeOf(longer), longer.errors[0]?.extensions.field]).toEqual(['FORBIDDEN', 'expiresAt']);
    expect(codeOf(await as(createApiToken.secret, CREATE_TOKEN, { input: { name: 'as long', expiresAt } }))).toBe(
      'done',
    );
  });
});

describe('a role', () => {
  it('that is built in can be read and never changed', async () => {
    const { accessRoles } = await app.ask('{ accessRoles { name builtIn permissions } }');
    expect(accessRoles.slice(0, 4).map(({ name }: { name: string }) => name)).toEqual([
      'admin',
      'operator',
      'viewer',
      'worker',
    ]);
    expect(
      codeOf(await app.post(UPDATE_ROLE, { input: { name: 'viewer', permissions: ['*'], expectedRevision: 0 } })),
    ).toBe('CONFLICT');
    expect(codeOf(await app.post(CREATE_ROLE, { input: { name: 'admin', permissions: [] } }))).toBe('CONFLICT');
    expect(codeOf(await app.post('mutation { deleteAccessRole(input: { name: "viewer" }) { name } }'))).toBe(
      'CONFLICT',
    );
  });

  it('is refused with every problem at once', async () => {
    const { errors } = await app.post(CREATE_ROLE, {
      input: { name: 'a b', permissions: ['worker:*:read', 'fleet:*', 'worker:w:fly'] },
    });
    expect(errors[0]?.extensions.issues.map(({ path, code }) => [path, code])).toEqual([
      ['name', 'NAME_SHAPE'],
      ['permissions.1', 'PERMISSION_SHAPE'],
      ['permissions.2', 'PERMISSION_SHAPE'],
    ]);
  });

  it('changes what its principals may from the next request on, and only at the revision that was read', async () => {
    const name = await role(['worker:*:read']);
    const { token } = await somebody([name]);
    const permissions = async (): Promise<string[]> =>
      (await as(token, '{ viewer { permissions } }')).data.viewer.permissions;
    expect(await permissions()).toEqual(['worker:*:read']);
    const input = { name, permissions: ['deployment:*:read'], expectedRevision: 1 };
    expect((await app.ask(UPDATE_ROLE, { input })).updateAccessRole.role.revision).toBe(2);
    expect(await permissions()).toEqual(['deployment:*:read']);
    const late = await app.post(UPDATE_ROLE, { input });
    expect([codeOf(late), late.errors[0]?.extensions.current]).toEqual(['CONFLICT', { revision: 2 }]);
    const remove = 'mutation ($name: String!) { deleteAccessRole(input: { name: $name }) { name } }';
    const used = await app.post(remove, { name });
    expect(used.errors).toMatchObject([{ extensions: { code: 'CONFLICT', principals: 1 } }]);
    const [entry] = await audited('role.update', `role:${name}`);
    expect(entry).toMatchObject({
      actor: 'admin',
      request_id: expect.any(String),
      data: { before: { permissions: ['worker:*:read'] }, after: { permissions: ['deployment:*:read'] } },
    });
  });
});

describe('nobody gives more than he has', () => {
  it('neither by a principal, a role, a token nor a password', async () => {
    const helper = await somebody([await role(['admin:*', 'worker:*:read'])]);
    const admin = { name: `root-${(made += 1)}`, kind: 'USER', roles: ['admin'] };
    await app.ask(CREATE_PRINCIPAL, { input: admin });
    const tries: [string, Record<string, unknown>][] = [
      [CREATE_PRINCIPAL, { name: 'evil-1', roles: ['operator'] }],
      [CREATE_ROLE, { name: 'evil-2', permissions: ['worker:*:manage'] }],
      [CREATE_TOKEN, { principal: admin.name, name: 'his' }],
      [UPDATE_PRINCIPAL, { name: helper.name, roles: ['admin'], expectedRevision: 1 }],
      [UPDATE_PRINCIPAL, { name: admin.name, disabled: true, expectedRevision: 1 }],
      [
        'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { principal { id } } }',
        { name: admin.name, password: 'correct horse battery' },
      ],
      ['mutation ($input: DeletePrincipalInput!) { deletePrincipal(input: $input) { name } }', { name: admin.name }],
    ];
    for (const [query, input] of tries) {
      const answer = await as(helper.token, query, { input });
      expect([codeOf(answer), query]).toEqual(['FORBIDDEN', query]);
    }
    // What he has, he gives.
    const fine = { name: `fine-${(made += 1)}`, permissions: ['worker:w-1:read', 'admin:tokens:read'] };
    expect(codeOf(await as(helper.token, CREATE_ROLE, { input: fine }))).toBe('done');
    expect(
      codeOf(await as(helper.token, CREATE_PRINCIPAL, { input: { name: `ok-${made}`, roles: [fine.name] } })),
    ).toBe('done');
  });

  it('and without the permission nothing is told of what there is', async () => {
    const { token, name } = await somebody(['operator']);
    for (const query of ['{ principals { totalCount } }', '{ accessRoles { name } }'])
      expect(codeOf(await as(token, query))).toBe('FORBIDDEN');
    expect((await as(token, '{ principal(name: "admin") { name } }')).data.principal).toBeNull();
    expect(
      (await as(token, 'query ($n: String!) { principal(name: $n) { name } }', { n: name })).data.principal,
    ).toEqual({
      name,
    });
    expect(codeOf(await as(token, CREATE_PRINCIPAL, { input: { name: 'x' } }))).toBe('FORBIDDEN');
  });
});

describe('a principal', () => {
  it('is named once, in whatever case, and has roles that there are', async () => {
    const name = `Anna-${(made += 1)}@example.org`;
    const { createPrincipal } = await app.ask(CREATE_PRINCIPAL, { input: { name, roles: ['viewer'] } });
    expect(createPrincipal.principal).toMatchObject({
      name,
      kind: 'USER',
      roles: ['viewer'],
      revision: 1,
      createdBy: 'admin',
    });
    expect(codeOf(await app.post(CREATE_PRINCIPAL, { input: { name: name.toLowerCase() } }))).toBe('CONFLICT');
    const { errors } = await app.post(CREATE_PRINCIPAL, { input: { name: 'worker:w', roles: ['nobody'] } });
    expect(errors[0]?.extensions.issues.map(({ code }) => code)).toEqual(['NAME_SHAPE']);
    const roles = await app.post(CREATE_PRINCIPAL, {
      input: { name: `b-${(made += 1)}`, roles: ['viewer', 'nobody'] },
    });
    expect(roles.errors[0]?.extensions.issues).toMatchObject([{ path: 'roles.1', code: 'NO_SUCH_ROLE' }]);
  });

  it('that is disabled gets in by nothing, until it is enabled again', async () => {
    const { name, token } = await somebody(['viewer']);
    expect(codeOf(await as(token, '{ viewer { name } }'))).toBe('done');
    await app.ask(UPDATE_PRINCIPAL, { input: { name, disabled: true, expectedRevision: 1 } });
    expect(codeOf(await as(token, '{ viewer { name } }'))).toBe('UNAUTHENTICATED');
    const late = await app.post(UPDATE_PRINCIPAL, { input: { name, disabled: false, expectedRevision: 1 } });
    expect([codeOf(late), late.errors[0]?.extensions.current]).toEqual(['CONFLICT', { revision: 2 }]);
    await app.ask(UPDATE_PRINCIPAL, { input: { name, disabled: false, expectedRevision: 2 } });
    expect(codeOf(await as(token, '{ viewer { name } }'))).toBe('done');
    await app.ask('mutation ($n: String!) { deletePrincipal(input: { name: $n }) { name } }', { n: name });
    expect(codeOf(await as(token, '{ viewer { name } }'))).toBe('UNAUTHENTICATED');
    expect((await audited('principal.update', `principal:${name}`)).map(({ data }) => data)).toEqual([
      { before: { disabled: false }, after: { disabled: true } },
      { before: { disabled: true }, after: { disabled: false } },
    ]);
  });

  it('that is the last administrator stays one', async () => {
    const { rows } = await app.plane.database.query<{ name: string; revision: number }>(
      "SELECT name, revision FROM principal WHERE 'admin' = ANY(roles) AND name <> 'admin' AND disabled_at IS NULL",
    );
    for (const { name, revision } of rows)
      await app.ask(UPDATE_PRINCIPAL, { input: { name, disabled: true, expectedRevision: revision } });
    const { principal } = await app.ask('{ principal(name: "admin") { revision } }');
    const expectedRevision = principal.revision as number;
    for (const change of [{ disabled: true }, { roles: ['operator'] }])
      expect(codeOf(await app.post(UPDATE_PRINCIPAL, { input: { name: 'admin', ...change, expectedRevision } }))).toBe(
        'CONFLICT',
      );
    expect(codeOf(await app.post('mutation { deletePrincipal(input: { name: "admin" }) { name } }'))).toBe('CONFLICT');
  });

  it('two that take it from each other at the same moment leave one', async () => {
    const pair = await Promise.all([somebody(['admin']), somebody(['admin'])]);
    const [a, b] = pair;
    const { principal } = await app.ask('{ principal(name: "admin") { revision } }');
    await app
      .ask(UPDATE_PRINCIPAL, {
        input: { name: 'admin', disabled: true, expectedRevision: principal.revision },
      })
      .catch(() => undefined);
    // The installation's token is of the principal that was disabled just now: what is left speaks through a and b.
    const answers = await Promise.all([
      as(a.token, UPDATE_PRINCIPAL, { input: { name: b.name, disabled: true, expectedRevision: 1 } }),
      as(b.token, UPDATE_PRINCIPAL, { input: { name: a.name, disabled: true, expectedRevision: 1 } }),
    ]);
    expect(answers.map(codeOf).filter((code) => code === 'done')).toHaveLength(1);
    const left = answers.map(codeOf).indexOf('done') === 0 ? a : b;
    const revision = (await as(left.token, '{ principal(name: "admin") { revision } }')).data.principal.revision;
    const enabled = { name: 'admin', disabled: false, expectedRevision: revision };
    expect(codeOf(await as(left.token, UPDATE_PRINCIPAL, { input: enabled }))).toBe('done');
    expect((await app.ask('{ viewer { name } }')).viewer.name).toBe('admin');
  });
});
