import { MusterError } from '@muster/core';
import { GraphQLError } from 'graphql';
import { databaseTrouble } from '../lib/database-trouble.ts';
import type { Log } from '../log.ts';

/** What errors of one operation need: who to blame it on in the log. */
export interface ErrorScope {
  readonly requestId: string;
  readonly log: Log;
}

/** A typed error as the API shows it: stable code, request id, field, every issue, and machine-readable facts such as `current`. */
export function toGraphQLError(error: MusterError, scope: { requestId: string }, at?: GraphQLError): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: at?.nodes,
    path: at?.path,
    extensions: {
      code: error.code,
      requestId: scope.requestId,
      ...(error.field ? { field: error.field } : {}),
      issues: error.issues,
      ...error.details,
    },
  });
}

/**
 * The shape in which an error of the execution leaves. Typed errors pass; graphql-js's complaint about an argument is told without the
 * value; a database that is busy or away is UNAVAILABLE; everything else is a bug: it is logged under the request id and masked.
 */
export function exposeError(error: GraphQLError, scope: ErrorScope): GraphQLError {
  const cause = originOf(error);
  if (cause instanceof MusterError) return toGraphQLError(cause, scope, error);
  if (cause instanceof GraphQLError) {
    const argument = /^Argument "(\w+)"/.exec(cause.message)?.[1];
    if (argument !== undefined) {
      const message = `The argument ${argument} does not fit its type.`;
      return toGraphQLError(
        new MusterError('BAD_INPUT', message, { issues: [{ path: argument, code: 'INVALID', message }] }),
        scope,
        error,
      );
    }
  }
  const trouble = databaseTrouble(cause);
  if (trouble !== null) {
    scope.log.warn({ requestId: scope.requestId, path: error.path?.join('.'), err: cause }, 'the database failed');
    return toGraphQLError(trouble, scope, error);
  }
  scope.log.error(
    { requestId: scope.requestId, path: error.path?.join('.'), err: cause },
    'an operation failed unexpectedly',
  );
  return internalError(scope, error);
}

export function internalError(scope: { requestId: string }, at?: GraphQLError): GraphQLError {
  return toGraphQLError(new MusterError('INTERNAL', 'Unexpected error.'), scope, at);
}

function originOf(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}
