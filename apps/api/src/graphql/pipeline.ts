import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  subscribe,
} from 'graphql';
import { createYoga } from 'graphql-yoga';
import { MusterError } from '@muster/core';
import { type AccessRule, requireAccess } from '../modules/viewer/access-rule.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Context } from './context.ts';
import { type ErrorScope, exposeError, internalError, toGraphQLError } from './errors.ts';
import {
  beyond,
  checkBodyShape,
  checkPrice,
  checkSize,
  costOf,
  documentCache,
  LIMITS,
  tokenLimitPlugin,
} from './limits.ts';
import { mayCarryRoutingInput, repeatsKey } from './repeated-keys.ts';
import { ruleOf } from './open-operation.ts';
import { rewriteDocumentErrors, rewriteVariableErrors } from './request-errors.ts';

/** One GraphQL request as it came, over whatever transport. Nothing in it is trusted or logged. */
export interface GraphQLRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
  readonly variables?: unknown;
}

/** The JSON that a request was read from, where it was read from one. */
type RequestText = string | null;

/** A request that may be run. */
export interface Operation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  /** See `priceOf`. */
  readonly price: number;
}

export interface Pipeline {
  readonly schema: GraphQLSchema;
  /**
   * Parses, measures, validates and prices; nothing runs. `viewer`: who asks, null for nobody; only people and services may read the schema.
   * Errors: BAD_INPUT, FORBIDDEN and ROUTING_INPUT_INVALID, without any value of the request.
   */
  prepare(request: GraphQLRequest, text: RequestText, viewer: Viewer | null): Operation;
  /** Runs it. `refused`: the variables do not fit, nothing was run. Errors in the result are ready to leave. */
  run(
    operation: Operation,
    context: Context,
  ): Promise<{ result: ExecutionResult | AsyncGenerator<ExecutionResult, void, void>; refused: boolean }>;
}

type Enveloped = {
  parse: (source: string) => DocumentNode;
  validate: (schema: GraphQLSchema, document: DocumentNode) => readonly Error[];
};

/**
 * Yoga's engine with its caches and the limits on documents, executed by graphql-js. Both transports go through it, so that
 * what is refused, masked or rewritten on one is on the other too.
 */
export function createPipeline(schema: GraphQLSchema): Pipeline {
  const yoga = createYoga({
    schema,
    logging: false,
    maskedErrors: false,
    graphiql: false,
    landingPage: false,
    parserAndValidationCache: { documentCache: documentCache(), errorCache: documentCache() },
    plugins: [tokenLimitPlugin()],
  });
  return {
    schema,
    prepare: (request, text, viewer) => {
      if (text !== null) {
        checkBodyShape(text);
        refuseRepeatedKeys(text);
      }
      return prepare(request, schema, yoga.getEnveloped({}), viewer);
    },
    run: (operation, context) => run(operation, context, schema),
  };
}

/** Routing input must not depend on which of two equal keys a parser keeps (ruling 21), in its value and on the way to it. */
function refuseRepeatedKeys(text: string): void {
  if (!mayCarryRoutingInput(text) || !repeatsKey(text)) return;
  const message = 'A request that carries routing input must not have a key twice in one object.';
  throw new MusterError('ROUTING_INPUT_INVALID', message, {
    field: 'variables',
    issues: [{ path: 'variables', code: 'JSON_DUPLICATE_KEY', message }],
  });
}

function prepare(
  request: GraphQLRequest,
  schema: GraphQLSchema,
  { parse, validate }: Enveloped,
  viewer: Viewer | null,
): Operation {
  const { query, operationName, variables } = checkRequest(request);
  const mayRead = viewer !== null && mayReadSchema(viewer);
  let document: DocumentNode;
  try {
    document = parse(query);
  } catch (error) {
    throw rewriteDocumentErrors([asError(error)], null, schema, mayRead);
  }
  const { readsSchema } = checkSize(document);
  if (readsSchema && !mayRead)
    throw new MusterError('FORBIDDEN', 'The schema may be read by people and services, not by workers and executions.');
  let errors: readonly Error[];
  try {
    errors = validate(schema, document);
  } catch (error) {
    errors = [asError(error)];
  }
  if (errors.length > 0) throw rewriteDocumentErrors(errors, document, schema, mayRead);
  const node = getOperationAST(document, operationName);
  if (!node)
    throw new MusterError('BAD_INPUT', 'operationName must name one of the operations of the document.', {
      field: 'operationName',
    });
  const price = checkPrice(schema, document, node, variables ?? {});
  return { document, node, operationName, variables, price };
}

/** Errors: BAD_INPUT. */
function checkRequest({ query, operationName, variables }: GraphQLRequest): {
  query: string;
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
} {
  if (typeof query !== 'string' || query.trim() === '')
    throw new MusterError('BAD_INPUT', 'query must be the text of a GraphQL document.', { field: 'query' });
  if (query.length > LIMITS.queryBytes) throw beyond('Query length', LIMITS.queryBytes, query.length);
  if (operationName != null && typeof operationName !== 'string')
    throw new MusterError('BAD_INPUT', 'operationName must be a string.', { field: 'operationName' });
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables)))
    throw new MusterError('BAD_INPUT', 'variables must be an object.', { field: 'variables' });
  const count = variables == null ? 0 : Object.keys(variables).length;
  if (count > LIMITS.variables) throw beyond('Variables', LIMITS.variables, count);
  return {
    query,
    operationName: operationName ?? undefined,
    variables: (variables ?? undefined) as Record<string, unknown> | undefined,
  };
}

/** Whoever may not sees neither introspection nor "did you mean". */
function mayReadSchema({ kind }: Viewer): boolean {
  return kind === 'person' || kind === 'service';
}

async function run(operation: Operation, context: Context, schema: GraphQLSchema): ReturnType<Pipeline['run']> {
  const args = {
    schema,
    document: operation.document,
    operationName: operation.operationName,
    variableValues: operation.variables,
    contextValue: context,
  };
  let result: ExecutionResult | AsyncGenerator<ExecutionResult, void, void>;
  try {
    result = await (operation.node.operation === 'subscription' ? subscribe(args) : execute(args));
  } catch (error) {
    context.log.error({ requestId: context.requestId, err: error }, 'an operation could not be executed');
    return { result: { errors: [internalError(context)] }, refused: false };
  }
  const cost = costOf(operation.price);
  if (Symbol.asyncIterator in result) {
    const rule = ruleOf(schema, operation.node);
    return { result: exposeAll(result, { context, cost, rule }), refused: false };
  }
  if (!('data' in result) && result.errors?.every((error) => error.path === undefined)) {
    const refusal = rewriteVariableErrors(schema, operation.node, operation.variables);
    return { result: { errors: [toGraphQLError(refusal, context)], extensions: { cost } }, refused: true };
  }
  return { result: { ...exposeResult(result, context), extensions: { cost } }, refused: false };
}

function exposeResult(result: ExecutionResult, scope: ErrorScope): ExecutionResult {
  return result.errors ? { ...result, errors: result.errors.map((error) => exposeError(error, scope)) } : result;
}

type Cost = ReturnType<typeof costOf>;

const GONE = Symbol('gone');

/**
 * Every event as it may leave; the first one says what each costs. Hand-made instead of an async generator: `return` must reach a source that is waiting for its next event at once, and a generator would
 * queue it behind that wait.
 */
function exposeAll(
  source: AsyncGenerator<ExecutionResult, void, void>,
  { context, cost, rule }: { context: Context; cost: Cost; rule: AccessRule },
): AsyncGenerator<ExecutionResult, void, void> {
  let ended = false;
  let first = true;
  let gone = false;
  let waiting: ((item: typeof GONE) => void) | null = null;
  const end = { done: true, value: undefined } as const;
  const stopWatching = context.onEnd(() => {
    gone = true;
    waiting?.(GONE);
  });
  const finish = (): void => {
    ended = true;
    stopWatching();
  };
  /** The next item, or the news that the viewer's credential has ended, also while the source waits. */
  const nextItem = (): Promise<IteratorResult<ExecutionResult, void> | typeof GONE> =>
    new Promise((resolve, reject) => {
      if (gone) return resolve(GONE);
      waiting = resolve;
      source.next().then(resolve, reject);
    });
  const stream: AsyncGenerator<ExecutionResult, void, void> = {
    async next() {
      if (ended) return end;
      try {
        context.renew();
        const item = await nextItem();
        waiting = null;
        if (item === GONE) {
          finish();
          void source.return();
          const error = new MusterError('UNAUTHENTICATED', 'The token or the session has ended; log in again.');
          return { done: false, value: { errors: [toGraphQLError(error, context)] } };
        }
        if (item.done) {
          finish();
          return end;
        }
        // What somebody was let in by may have been taken from him since the last event.
        requireAccess(rule, context.viewer);
        const value = exposeResult(item.value, context);
        if (!first) return { done: false, value };
        first = false;
        return { done: false, value: { ...value, extensions: { cost } } };
      } catch (error) {
        finish();
        void source.return();
        const wrapped =
          error instanceof GraphQLError ? error : new GraphQLError('stream', { originalError: asError(error) });
        return { done: false, value: { errors: [exposeError(wrapped, context)] } };
      }
    },
    async return() {
      finish();
      await source.return();
      return end;
    },
    async throw() {
      return stream.return();
    },
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: async () => {
      await stream.return();
    },
  };
  return stream;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('thrown value');
}
