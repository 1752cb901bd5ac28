import { type GraphQLField, type GraphQLObjectType, OperationTypeNode } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { permits } from '@muster/core';
import { routes } from '../http/rest/routes.ts';
import type { AccessRule } from '../modules/viewer/access-rule.ts';
import { minimalOperation } from '../testing/access-matrix/minimal-operation.ts';
import { ADDRESSES, OPERATIONS } from '../testing/access-matrix/operations.ts';
import { type MatrixLine, renderMatrix } from '../testing/access-matrix/render.ts';
import { type Verdict, verdictFrom, verdictOf, wordsOf } from '../testing/access-matrix/verdict.ts';
import {
  askAs,
  fetchAs,
  followAs,
  type MatrixAnswer,
  makeVisitors,
  type Visitor,
} from '../testing/access-matrix/visitors.ts';
import { startTestApp, type TestApp } from '../testing/test-app.ts';
import { type Team, twoTeams } from '../testing/two-teams.ts';
import { buildSchema } from './schema.ts';

const DOCS = '../../../../docs/permissions.md';
const schema = buildSchema();

let app: TestApp;
let ours: Team;
let theirs: Team;
let visitors: Visitor[];

beforeAll(async () => {
  app = await startTestApp();
  ({ ours, theirs } = await twoTeams(app));
  visitors = await makeVisitors(app, ours);
});
afterAll(() => app.close());

/** Something that can be asked for. */
interface Entrance {
  readonly name: string;
  readonly rule: AccessRule;
  /** NOT_FOUND, or nothing, is how it says that there is nothing to see. */
  readonly hides: boolean;
  /** What is asked, about what is this team's. */
  askedOf(team: Team, visitor: Visitor): string;
  ask(visitor: Visitor, asked: string): Promise<MatrixAnswer>;
}

const ROOTS = [
  ['Query', OperationTypeNode.QUERY],
  ['Mutation', OperationTypeNode.MUTATION],
  ['Subscription', OperationTypeNode.SUBSCRIPTION],
] as const;
const OF_AN_EXECUTION = /^(?:cancel|resume|retry)Execution$/;

const fieldsOf = (root: string): GraphQLField<unknown, unknown>[] =>
  Object.values((schema.getType(root) as GraphQLObjectType).getFields());

function ruleOf(field: GraphQLField<unknown, unknown>): AccessRule {
  return (field.extensions['pothosOptions'] as { authScopes?: AccessRule }).authScopes ?? {};
}

function entrancesOf([root, operation]: (typeof ROOTS)[number]): Entrance[] {
  return fieldsOf(root).map((field) => {
    const rule = ruleOf(field);
    return {
      name: field.name,
      rule,
      hides: rule.reads !== undefined || OF_AN_EXECUTION.test(field.name),
      askedOf: (team, visitor) => {
        const name = `${team.namespace}-joined`;
        const names: Record<string, string> = rule.serves ? { worker: name, name, role: 'worker' } : {};
        return (
          OPERATIONS[`${root}.${field.name}`]?.(team, visitor) ?? minimalOperation(schema, operation, field, names)
        );
      },
      ask: (visitor, asked) =>
        field.name === 'dispatchDecisions'
          ? followAs(app, visitor, asked, () => runOne(asked.includes(ours.workflow) ? ours : theirs))
          : askAs(app, visitor, asked),
    };
  });
}

function runOne({ workflow }: Team): Promise<unknown> {
  return app.ask('mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }', {
    input: { workflow },
  });
}

const routeEntrances = (): Entrance[] => [
  ...routes.map(
    ({ operationId, method, path, access }): Entrance => ({
      name: `${method} ${path}`,
      rule: access,
      hides: access.reads !== undefined || OF_AN_EXECUTION.test(operationId),
      askedOf: (team) => ADDRESSES[operationId]?.(team) ?? path,
      ask: (visitor, asked) => fetchAs(app, visitor, method, asked),
    }),
  ),
  ...(
    [
      ['/metrics', { signedIn: true }],
      ['/openapi.json', { anybody: true }],
      ['/healthz', { anybody: true }],
      ['/readyz', { anybody: true }],
    ] as const
  ).map(
    ([path, rule]): Entrance => ({
      name: `GET ${path}`,
      rule,
      hides: false,
      askedOf: () => path,
      ask: (visitor, asked) => fetchAs(app, visitor, 'GET', asked),
    }),
  ),
];

/** Asks as everybody, and holds what comes of it against the rule; what differs goes to `wrong`. */
async function walk(entrances: readonly Entrance[], wrong: string[]): Promise<MatrixLine[]> {
  const lines: MatrixLine[] = [];
  for (const entrance of entrances) {
    const { name, rule, askedOf } = entrance;
    await Promise.all([ours.beat(), theirs.beat()]);
    const cells = await Promise.all(
      visitors.map(async (visitor) => {
        const found = await verdictAt(entrance, visitor, ours);
        const elsewhere =
          askedOf(theirs, visitor) === askedOf(ours, visitor) ? found : await verdictAt(entrance, visitor, theirs);
        const right = verdictOf(rule, visitor);
        const named = visitor.column === 'team' || visitor.column === 'worker';
        const alike = elsewhere === found || (named && elsewhere !== 'let in');
        if (found !== right || !alike)
          wrong.push(`${name} as ${visitor.column}: ${found}, of others ${elsewhere}; by the rule: ${right}`);
        return cellOf(found, elsewhere, rule, visitor);
      }),
    );
    lines.push({ name, takes: wordsOf(rule), cells });
  }
  return lines;
}

async function verdictAt({ ask, askedOf, hides }: Entrance, visitor: Visitor, team: Team): Promise<Verdict> {
  return verdictFrom(await ask(visitor, askedOf(team, visitor)), hides);
}

function cellOf(found: Verdict, elsewhere: Verdict, rule: AccessRule, { permissions }: Visitor): string {
  if (found === 'refused') return '–';
  if (found === 'nothing') return 'nothing';
  const forms = [rule.reads ?? [], rule.permission ?? [], rule.registers ?? []].flat();
  const everywhere = forms.every((form) => permits(permissions, form.replace(/\{\w+\}/g, '*')));
  return found === elsewhere && everywhere ? 'yes' : 'own';
}

describe('who is let in', () => {
  it('is said, and has something to be tried with where it is about what may be seen', () => {
    for (const root of ROOTS) {
      for (const field of fieldsOf(root[0])) {
        expect(Object.keys(ruleOf(field)), `${root[0]}.${field.name} has no authScopes`).not.toEqual([]);
        if (ruleOf(field).reads !== undefined)
          expect(OPERATIONS, 'a field that filters needs an operation that selects what it shows').toHaveProperty([
            `${root[0]}.${field.name}`,
          ]);
      }
    }
    for (const { access, operationId } of routes) {
      expect(Object.keys(access), `${operationId} has no access`).not.toEqual([]);
      if (JSON.stringify(Object.values(access)).includes('{')) expect(ADDRESSES).toHaveProperty(operationId);
    }
    const known = new Set(ROOTS.flatMap(([root]) => fieldsOf(root).map(({ name }) => `${root}.${name}`)));
    expect(Object.keys(OPERATIONS).filter((name) => !known.has(name))).toEqual([]);
  });

  it('is let in, and nobody else; docs/permissions.md says so', { timeout: 600_000 }, async () => {
    const wrong: string[] = [];
    const sections: [string, MatrixLine[]][] = [];
    for (const root of ROOTS) sections.push([root[0], await walk(entrancesOf(root), wrong)]);
    sections.push(['Routes', await walk(routeEntrances(), wrong)]);
    await expect(
      renderMatrix(
        visitors.map(({ column }) => column),
        sections,
      ),
    ).toMatchFileSnapshot(DOCS);
    expect(wrong).toEqual([]);
  });
});
