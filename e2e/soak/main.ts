// The long soak: `npm run soak -- [--replicas 2] [--seconds 600] [--executions 20000] [--seed N]`.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '1' },
    workers: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '600' },
    executions: { type: 'string', default: '20000' },
    'server-seconds': { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const began = performance.now();
const report = await soak({
  replicas: Number(values.replicas),
  workers: Number(values.workers),
  seconds: Number(values.seconds),
  executions: Number(values.executions),
  serverSeconds: Number(values['server-seconds']),
  seed: Number(values.seed),
  say: (line) => process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`),
});
process.stdout.write(
  `${report.accepted} accepted; ${JSON.stringify(report.blows)}; seconds without dispatch after each kill: ${report.stalls.join(', ')}\n`,
);
const failed = Object.entries(report.broken).filter(([, cases]) => cases.length > 0);
for (const [what, cases] of Object.entries(report.broken))
  process.stdout.write(
    `${cases.length === 0 ? 'holds ' : 'BROKEN'} ${what}${cases.map((one) => `\n         ${one}`).join('')}\n`,
  );
process.exitCode = failed.length > 0 ? 1 : 0;
