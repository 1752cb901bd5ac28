import type { Command } from 'commander';
import { buildProgram } from '../program.ts';
import { testIo } from './test-io.ts';

const introduction = `# The muster command

Made from the help texts of the command itself; a test compares them.

Every command but \`serve\` and \`worker start\` ends by itself. Results go to stdout, everything else to stderr.

- **Server and token**: \`--server\` and \`--token\`, else \`MUSTER_SERVER\` and \`MUSTER_TOKEN\`, else \`http://127.0.0.1:4000\` and the
  token that a server started in this directory has left in \`.muster\`.
- **Tables** fit the terminal: text is broken at words, ids and names never; where columns do not fit, each row is a block. What is
  piped stays one line a row.
- **\`--json\`** prints what the server answered, with the names of the [GraphQL API](graphql-api.md): a list for \`list\`,
  \`versions\`, \`history\`, \`events\` and \`metadata\`, an object for the rest. \`--follow --json\` prints one event a line as it comes;
  \`run\` adds a last line \`{"execution": …}\`.
- **\`--follow\`** survives a restart of the server: it goes on after the last event that was printed, and gives up with exit
  code 5 after 2 minutes without the server.
- **Inputs** are JSON, \`@file\`, or \`-\` for stdin. Values of \`-r key=value\` are texts, as those of \`--label\`.

| exit code | means |
|---|---|
| 0 | ok |
| 1 | failed: the execution did not complete, the policy is not legal, somebody else was faster |
| 2 | usage: the command line or a file that it names is wrong |
| 3 | not found |
| 4 | denied: no token, or one that may not |
| 5 | unavailable: no server, no healthy variant, not in time |
`;

/** docs/cli.md: every command with its help. */
export function commandReference(): string {
  const program = buildProgram({ ...testIo(), columns: 100 }, () => undefined);
  return `${introduction}\n${sectionsOf(program, 'muster').join('\n')}`;
}

function sectionsOf(command: Command, path: string): string[] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  const help = helpOf(command);
  const section = `## ${path}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;
  return [section, ...children.flatMap((one) => sectionsOf(one, `${path} ${one.name()}`))];
}

function helpOf(command: Command): string {
  const lines: string[] = [];
  command.configureOutput({ writeOut: (text) => lines.push(text) });
  command.outputHelp();
  return lines.join('');
}
