import { MusterError } from '@muster/core';
import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../../dispatch/ids.ts';
import { isBuiltIn } from '../../access/credential-reads.ts';
import { checkPrincipalName } from '../../access/names.ts';
import type { PrincipalRow, PrincipalStore } from '../../access/principal-store.ts';
import { appendAudit, type Author } from '../../audit/audit-log.ts';
import { OidcProblem } from './oidc-problem.ts';

export interface ExternalPrincipalStoreDeps {
  prisma: PrismaClient;
  /** UUID v7. */
  newId(): string;
  /** ms by the database's clock. */
  now(): number;
  principals: PrincipalStore;
  /** Called when what somebody may do has changed. */
  onChange(principalId: number): void;
}

/** Who logs in: known by issuer and subject, whatever he is called now. */
export interface ExternalPerson {
  readonly issuer: string;
  readonly subject: string;
  /** null: the provider does not say. */
  readonly name: string | null;
  readonly roles: readonly string[];
}

/** People whom an identity provider vouches for. Their roles are the provider's: each login sets them anew. */
export class ExternalPrincipalStore {
  readonly #deps: ExternalPrincipalStoreDeps;

  constructor(deps: ExternalPrincipalStoreDeps) {
    this.#deps = deps;
  }

  /**
   * The person as a principal, made where he comes for the first time; answers its id. Where no role is left, those that he had are taken
   * away and his sessions end. Errors: OidcProblem `no-role`, `no-name`, `name-taken`, `disabled`, `last-admin`.
   */
  async enter(person: ExternalPerson, from: Pick<Author, 'address' | 'requestId'>): Promise<number> {
    const roles = await this.#existing(person.roles);
    const known = await this.#find(person);
    if (known === null) return this.#create(person, roles, from);
    if (known.disabledAt !== null)
      throw new OidcProblem('disabled', 'The principal is disabled.', { person: known.name });
    await this.#setRoles(known, roles, { name: known.name, ...from });
    if (roles.length === 0)
      throw new OidcProblem('no-role', 'No role is mapped from what the provider says.', { person: known.name });
    return known.id;
  }

  async #create(
    { issuer, subject, name }: ExternalPerson,
    roles: readonly string[],
    from: Pick<Author, 'address' | 'requestId'>,
  ): Promise<number> {
    const { prisma, newId, now, onChange } = this.#deps;
    if (roles.length === 0) throw new OidcProblem('no-role', 'No role is mapped from what the provider says.');
    if (name === null || checkPrincipalName(name, 'name').length > 0)
      throw new OidcProblem('no-name', 'What the provider calls the person cannot be the name of a principal.');
    try {
      const id = await prisma.$transaction(async (tx) => {
        const taken = await tx.principal.findFirst({ where: { name: { equals: name, mode: 'insensitive' } } });
        if (taken !== null) throw nameTaken();
        const row = await tx.principal.create({
          data: {
            name,
            kind: 'USER',
            roles: [...roles],
            oidcIssuer: issuer,
            oidcSubject: subject,
            createdBy: issuer,
            createdAt: new Date(now()),
          },
          select: { id: true },
        });
        await appendAudit(tx, rawId(newId()), {
          author: { name, ...from },
          action: 'principal.create',
          target: `principal:${name}`,
          before: null,
          after: { kind: 'USER', roles, password: false, issuer },
        });
        return row.id;
      });
      onChange(id);
      return id;
    } catch (error) {
      if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') throw error;
      // Two first logins at once: one has made it.
      const made = await this.#find({ issuer, subject });
      if (made !== null) return made.id;
      throw nameTaken();
    }
  }

  async #setRoles(known: PrincipalRow, roles: readonly string[], author: Author): Promise<void> {
    const { prisma, principals, onChange } = this.#deps;
    if (sameSet(known.roles, roles)) return;
    try {
      const made = await principals.update(known, known.revision, { roles, disabled: false }, author);
      if (made === null)
        throw new OidcProblem('failed', 'The principal was changed meanwhile.', { person: known.name });
    } catch (error) {
      if (error instanceof MusterError && error.code === 'CONFLICT')
        throw new OidcProblem('last-admin', 'Nobody else is an administrator.', { person: known.name });
      throw error;
    }
    if (roles.length === 0) await prisma.loginSession.deleteMany({ where: { principalId: known.id } });
    onChange(known.id);
  }

  /** Roles that the map names and nobody has made give nothing. */
  async #existing(roles: readonly string[]): Promise<string[]> {
    const rows = await this.#deps.prisma.role.findMany({ where: { name: { in: [...roles] } }, select: { name: true } });
    const made = new Set(rows.map(({ name }) => name));
    return roles.filter((role) => isBuiltIn(role) || made.has(role));
  }

  async #find({ issuer, subject }: Pick<ExternalPerson, 'issuer' | 'subject'>): Promise<PrincipalRow | null> {
    const row = await this.#deps.prisma.principal.findFirst({
      where: { oidcIssuer: issuer, oidcSubject: subject },
      select: { id: true },
    });
    return row && ((await this.#deps.principals.byIds([row.id])).get(row.id) ?? null);
  }
}

function nameTaken(): OidcProblem {
  return new OidcProblem('name-taken', 'Another principal has the name of the person.');
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value) => other.includes(value));
}
