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
import type { Context } from './context.ts';
import { type ErrorScope, exposeError, internalError, toGraphQLError } from './errors.ts';
import { limitPlugins } from './limits.ts';
import { mayCarryRoutingInput, repeatsKey } from './repeated-keys.ts';
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
}

export interface Pipeline {
  readonly schema: GraphQLSchema;
  /** Parses and validates. Errors: BAD_INPUT and ROUTING_INPUT_INVALID, without any value of the request. */
  prepare(request: GraphQLRequest, text: RequestText): Operation;
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
    plugins: limitPlugins(),
  });
  return {
    schema,
    prepare: (request, text) => {
      if (text !== null) refuseRepeatedKeys(text);
      return prepare(request, schema, yoga.getEnveloped({}));
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

function prepare(request: GraphQLRequest, schema: GraphQLSchema, { parse, validate }: Enveloped): Operation {
  const { query, operationName, variables } = request;
  if (typeof query !== 'string' || query.trim() === '')
    throw new MusterError('BAD_INPUT', 'query must be the text of a GraphQL document.', { field: 'query' });
  if (operationName != null && typeof operationName !== 'string')
    throw new MusterError('BAD_INPUT', 'operationName must be a string.', { field: 'operationName' });
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw new MusterError('BAD_INPUT', 'variables must be an object.', { field: 'variables' });
  }
  let document: DocumentNode;
  try {
    document = parse(query);
  } catch (error) {
    throw rewriteDocumentErrors([asError(error)], null, schema);
  }
  let errors: readonly Error[];
  try {
    errors = validate(schema, document);
  } catch (error) {
    errors = [asError(error)];
  }
  if (errors.length > 0) throw rewriteDocumentErrors(errors, document, schema);
  const node = getOperationAST(document, operationName ?? undefined);
  if (!node)
    throw new MusterError('BAD_INPUT', 'operationName must name one of the operations of the document.', {
      field: 'operationName',
    });
  return {
    document,
    node,
    operationName: operationName ?? undefined,
    variables: (variables ?? undefined) as Record<string, unknown> | undefined,
  };
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
  if (Symbol.asyncIterator in result) return { result: exposeAll(result, context), refused: false };
  if (!('data' in result) && result.errors?.every((error) => error.path === undefined)) {
    const refusal = rewriteVariableErrors(schema, operation.node, operation.variables);
    return { result: { errors: [toGraphQLError(refusal, context)] }, refused: true };
  }
  return { result: exposeResult(result, context), refused: false };
}

function exposeResult(result: ExecutionResult, scope: ErrorScope): ExecutionResult {
  return result.errors ? { ...result, errors: result.errors.map((error) => exposeError(error, scope)) } : result;
}

const GONE = Symbol('gone');

/**
 * Hand-made instead of an async generator: `return` must reach a source that is waiting for its next event at once, and a generator would
 * queue it behind that wait.
 */
function exposeAll(
  source: AsyncGenerator<ExecutionResult, void, void>,
  context: Context,
): AsyncGenerator<ExecutionResult, void, void> {
  let ended = false;
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
        return { done: false, value: exposeResult(item.value, context) };
      } catch (error) {
        finish();
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
