export { type ErrorCode, type Issue, MusterError } from './lib/errors.ts';
export type { JsonObject, JsonValue } from './lib/json.ts';
export * from './policy/spec.ts';
export * from './worker/worker-facts.ts';
export * from './decision/decision.ts';
export * from './decision/request.ts';
