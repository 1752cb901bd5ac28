// A worker as a program of its own, in one file with a workflow: the processes of its handlers load this file too.
// argv: the server, and options of the worker as JSON.
import process from 'node:process';
import { Worker } from '../worker.ts';
import { workflow } from '../workflow.ts';
import * as flows from './child-flows.ts';

const single = workflow<unknown, unknown>(
  { namespace: 'child', name: 'single', runner: 'subprocess', module: import.meta.url },
  () => later,
);

const worker = new Worker({
  server: process.argv[2] ?? 'http://127.0.0.1:1',
  token: 't',
  name: 'w-1',
  role: 'worker',
  workflows: [single, ...Object.values(flows)],
  log: (level, message) => process.stdout.write(`${level}: ${message}\n`),
  ...(JSON.parse(process.argv[3] ?? '{}') as object),
});

const later = 'declared after the workflow';
process.stdout.write(`stopped: ${await worker.run()}\n`);
