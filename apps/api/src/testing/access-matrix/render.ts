/** A line of the matrix: what is asked for, what it takes, and what came of it by column. */
export interface MatrixLine {
  readonly name: string;
  readonly takes: string;
  readonly cells: readonly string[];
}

const HEAD = `<!-- Written by apps/api/src/graphql/access-matrix.test.ts (run it with -u); what it says was tried. -->

# Permissions

Every field of the API and every route says what it takes, in the schema (\`authScopes\`) or at the route (\`access\`); a test asks for each of them as everybody
below and writes down who was let in. The services check again what is named: GraphQL, REST, the command and the admin app all go through them.

## How permissions are written

\`workflow:{namespace}:{name}:read|run|register\` · \`deployment:{slug}:read|run|write\` · \`execution:*:read|cancel\` · \`worker:{name}:read|target|manage|serve\` ·
\`schedule:{name}:read|write\` · \`admin:{principals|roles|tokens|audit}:read|write\`. \`*\` stands for one part, at the end for all that follow.

- An execution and its decisions are read with \`execution:*:read\` and its workflow's \`read\`. Decisions name workers, also those that one may not read by themselves.
- Cancelling takes \`execution:*:cancel\`; resuming and retrying the workflow's \`run\`; each of an execution that one may read.
- Whoever starts an execution sees it in the answer, also without \`read\`.
- Binding to a worker takes \`worker:{name}:target\`. A preview takes \`worker:*:read\` and the workflow's \`read\`.
- A schedule takes \`schedule:{name}:write\` and the right to run its target, of whoever changes, resumes or runs it: it runs in his name. Pausing and deleting take the first alone.
- A deployment may name workflows that its writer may read; others stay where they are.
- Roles, figures of the fleet and \`/metrics\` are for every person and service account. The figures name no worker, and why executions are parked is told to those who may read all of them.
- \`worker:{name}:serve\` lets somebody speak as a worker without its credential; of the built-in roles only admin has it.

What may not be read looks as if it were not there: null, not in the list, not counted, NOT_FOUND. Who may not change something is refused before it is looked up,
so that names cannot be probed. Lists of somebody who may read only some workflows are found by their versions: of more than 100 versions the newest 20,000 executions
are looked through at once, and the cursor goes on from there.

A worker's credential is good for its own registration, heartbeats, claims and events. The token of an execution has its submitter's permissions on workflows and
executions, and sees no binding, no hint and no decision.

## Who is let in

*yes*: let in. *own*: for what is of the team alone. *nothing*: let in, and shown nothing. –: refused (FORBIDDEN; nobody: UNAUTHENTICATED).
*nobody* sends no credential; *worker* is a worker's credential, *execution* the token of an execution that an administrator has submitted; *team* has a role of
its own, for one namespace, a deployment, a schedule and a worker.
`;

export function renderMatrix(columns: readonly string[], sections: readonly [string, readonly MatrixLine[]][]): string {
  const table = (lines: readonly MatrixLine[]): string =>
    [
      `| | takes | ${columns.join(' | ')} |`,
      `|---|---|${columns.map(() => '---|').join('')}`,
      ...lines.map(
        ({ name, takes, cells }) => `| \`${name}\` | ${takes.replaceAll('|', '\\|')} | ${cells.join(' | ')} |`,
      ),
    ].join('\n');
  return `${HEAD}\n${sections.map(([title, lines]) => `### ${title}\n\n${table(lines)}\n`).join('\n')}`;
}
