export { dispatchRequest, workerFacts } from './worker-facts.ts';
