import type { JsonValue } from '@muster/core';
import { Kind, type ValueNode } from 'graphql';
import { jsonProblem } from '../lib/json-rules.ts';
import { builder } from './builder.ts';
import { RuleError } from './rule-error.ts';

const MAX_JSON_DEPTH = 64;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

function refuse(rule: string): never {
  throw new RuleError(rule);
}

builder.scalarType('DateTime', {
  description: 'RFC 3339, written in UTC with milliseconds.',
  serialize: (value) => value.toISOString(),
  parseValue: (value) => {
    if (typeof value !== 'string' || !RFC_3339.test(value))
      refuse('must be an RFC 3339 date and time with a time zone');
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) refuse('must be a date and time that exists');
    return date;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value, at most 1 MiB and 64 levels.',
  serialize: (value) => value,
  parseValue: (value) => checkJson(value),
  parseLiteral: (node, variables) => checkJson(literalToJson(node, variables, 0)),
});

builder.scalarType('JSONObject', {
  description: 'A JSON object, at most 1 MiB and 64 levels.',
  serialize: (value) => value,
  parseValue: (value) => requireObject(checkJson(value)),
  parseLiteral: (node, variables) => requireObject(checkJson(literalToJson(node, variables, 0))),
});

builder.scalarType('RoutingInput', {
  description:
    'Matched at dispatch, never delivered, never read back. Input only. Its parse errors, and every error about an input object that holds one, name the field and never print a value.',
  serialize: () => refuse('cannot be read back'),
  // Its rules are core's and have a code of their own: here everything passes.
  parseValue: (value) => value as JsonValue,
  parseLiteral: (node, variables) => literalToJson(node, variables, 0) as JsonValue,
});

function requireObject(value: JsonValue): { [key: string]: JsonValue } {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) refuse('must be a JSON object');
  return value;
}

/** Refuses what the database or a worker could not take. */
function checkJson(value: unknown): JsonValue {
  const problem = jsonProblem(value);
  if (problem !== null) refuse(problem.rule);
  return value as JsonValue;
}

function literalToJson(node: ValueNode, variables: Record<string, unknown> | null | undefined, depth: number): unknown {
  if (depth > MAX_JSON_DEPTH) refuse('must have at most 64 levels');
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.ENUM:
      return refuse('must be JSON: quote the names');
    case Kind.LIST:
      return node.values.map((item) => literalToJson(item, variables, depth + 1));
    case Kind.OBJECT: {
      const result: Record<string, unknown> = {};
      for (const field of node.fields) {
        // Defined, not assigned: a key `__proto__` is just a key.
        Object.defineProperty(result, field.name.value, {
          value: literalToJson(field.value, variables, depth + 1),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return result;
    }
    case Kind.VARIABLE:
      return variables?.[node.name.value] ?? null;
  }
}
