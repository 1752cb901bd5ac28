// The worker process of the throughput bench: one workflow that does nothing.
import process from 'node:process';
import { Worker, workflow } from '@muster/worker';

const [server = '', token = ''] = process.argv.slice(2);
const nothing = workflow({ namespace: 'bench', name: 'nothing', routing: 'score(least(load()))' }, () => null);
await new Worker({ server, token, name: 'bench-1', role: 'bench', capacity: 1000, workflows: [nothing] }).run();
