import { intersectPermissions } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Access } from '../access/access.ts';
import type { ResolvedCredential, TokenKind } from '../access/token-kind.ts';
import { EXECUTION_TOKEN_PREFIX, type ExecutionTokens } from './execution-tokens.ts';

/** What an execution may do of what its submitter may (rulings, Permissions). */
const FAMILIES = ['workflow:*', 'execution:*'];
/** While it is claimed, and has not ended. */
const HELD = ['CLAIMED', 'RUNNING', 'CANCELLING'];
/** Executions whose end is told at once to what they have open here; that of others is seen when they are read again. */
const MAX_WATCHED = 10_000;

export interface ExecutionTokenKindOptions {
  readonly executor: Executor;
  readonly bus: Bus;
  readonly access: Pick<Access, 'principal' | 'end'>;
  readonly tokens: ExecutionTokens;
}

/**
 * Tells which execution asks. Its token is good for the claim that it was made for, while that lasts, and for as long as its submitter may
 * enter; so it is looked up with every request.
 */
export class ExecutionTokenKind implements TokenKind {
  readonly prefix = EXECUTION_TOKEN_PREFIX;
  readonly cached = false;
  readonly #o: ExecutionTokenKindOptions;
  /** Generation by raw id, the one that asked last at the end. */
  readonly #watched = new Map<string, number>();
  readonly #stop: () => void;

  constructor(options: ExecutionTokenKindOptions) {
    this.#o = options;
    this.#stop = options.bus.subscribe('live', ({ items }) => {
      for (const { id, workerId, generation } of items) this.#moved(id, generation, workerId === null);
    });
  }

  async resolve(token: string): Promise<ResolvedCredential | null> {
    const { tokens, access } = this.#o;
    const read = tokens.read(token);
    if (read === null) return null;
    const row = await this.#claim(read.id, read.generation);
    if (row === null || !read.isOf(row.submittedBy)) return null;
    const principal = await access.principal(row.submittedBy);
    if (principal === null) return null;
    this.#watch(read.id, read.generation);
    return {
      viewer: {
        name: principal.name,
        kind: 'execution',
        roles: [],
        permissions: intersectPermissions(principal.permissions, FAMILIES),
        credential: { kind: 'execution', id: read.id },
        worker: null,
        execution: { id: read.id, worker: row.worker },
        address: null,
      },
      expiresAt: null,
      principalId: principal.id,
    };
  }

  close(): void {
    this.#stop();
    this.#watched.clear();
  }

  async #claim(id: string, generation: number): Promise<{ submittedBy: string; worker: string } | null> {
    const { rows } = await this.#o.executor.run<{ submittedBy: string; worker: string }>(
      {
        name: 'execution_token_claim',
        priority: 'read',
        text: `SELECT x.submitted_by AS "submittedBy", x.worker_name AS worker FROM execution x
          WHERE x.id = $1::uuid AND x.generation = $2 AND x.state = ANY($3::text[])`,
      },
      [id, generation, HELD],
    );
    return rows[0] ?? null;
  }

  #watch(id: string, generation: number): void {
    this.#watched.delete(id);
    this.#watched.set(id, generation);
    if (this.#watched.size > MAX_WATCHED) this.#watched.delete(this.#watched.keys().next().value as string);
  }

  /** A claim that has ended, or another one: the streams of the one before end with it. */
  #moved(id: string, generation: number, gone: boolean): void {
    const known = this.#watched.get(id);
    if (known === undefined || generation < known || (!gone && generation === known)) return;
    this.#watched.delete(id);
    this.#o.access.end({ kind: 'execution', id });
  }
}
