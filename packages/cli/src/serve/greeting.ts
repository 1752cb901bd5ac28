import type { Style } from '../output/style.ts';

export interface GreetingFacts {
  readonly url: string;
  /** Admits one browser, once. */
  readonly loginLink: string;
  /** How a shell gets the token, e.g. `$(cat /srv/.muster/admin-token)`. */
  readonly tokenInShell: string;
  readonly demo: boolean;
}

/** What `muster serve` prints when it is up. */
export function greeting({ url, loginLink, tokenInShell, demo }: GreetingFacts, style: Style): string {
  const lines = [style.bold('Muster is up.'), '', `  Admin     ${style.cyan(loginLink)}`, `  GraphQL   ${url}/graphql`];
  if (demo) {
    lines.push(
      '  Demo      4 workers and the deployment "assistant" (leave it out with --no-demo)',
      '',
      'Run something and read where it went and why:',
      '',
      demoCurl(url, tokenInShell),
    );
  }
  return lines.join('\n');
}

const text =
  'Muster knows which workers are on duty. It decides which worker takes a run, and it remembers why. When a worker dies, its runs are given to another worker.';

/** One command that runs the demo's deployment and prints where it went and why. */
export function demoCurl(url: string, tokenInShell: string): string {
  const query =
    'mutation($input: RunDeploymentInput!) { runDeployment(input: $input) { resolved { variant { label } } execution { id state output workerName why ' +
    'latestDecision { winner terms { text weight } candidates { worker rank total rejectedBecause cells { value weighted } } } } } }';
  const variables = {
    input: { deployment: 'assistant', sessionKey: 'alice', waitSeconds: 20, input: { text, region: 'eu' } },
  };
  const body = JSON.stringify({ query, variables });
  return `curl -sS ${url}/graphql -H "authorization: Bearer ${tokenInShell}" -H 'content-type: application/json' -d '${body}'`;
}
