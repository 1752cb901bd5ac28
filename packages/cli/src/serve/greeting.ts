import type { Style } from '../output/style.ts';

/** What `muster serve` prints when it is up. The login link admits one browser, once. */
export function greeting(url: string, loginLink: string, style: Style): string {
  return [style.bold('Muster is up.'), '', `  Admin     ${style.cyan(loginLink)}`, `  GraphQL   ${url}/graphql`].join(
    '\n',
  );
}

/**
 * What it prints when the demo's workers are on duty, or some of them. `tokenInShell`: how a shell gets the token, e.g.
 * `$(cat /srv/.muster/admin-token)`.
 */
export function demoGreeting(url: string, tokenInShell: string, onDuty: number): string {
  return [
    `  Demo      ${onDuty} workers and the deployment "assistant" (leave it out with --no-demo)`,
    '',
    'Run something and read where it went and why:',
    '',
    demoCurl(url, tokenInShell),
  ].join('\n');
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
