import { MusterError, type Issue } from '@muster/core';
import {
  coerceInputValue,
  type DocumentNode,
  getNullableType,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isLeafType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  visit,
  type ASTNode,
} from 'graphql';
import { RuleError } from './rule-error.ts';

/**
 * graphql-js prints values and source text in its messages, and any of them may be routing input. So no message of it leaves: what
 * went wrong with a request is told anew, as path and rule. Only names that the schema or the document's own identifiers carry
 * are repeated, and those inside a routing input are not.
 */

/** The parser's own. */
const TOKEN_LIMIT = /Document contains more (?:than|that) (\d+) tokens/;

/** Holds names of the schema only. */
const SUGGESTION =
  / Did you mean (?:to use an inline fragment on |the enum value )?"\w{1,64}"(?:,? (?:or )?"\w{1,64}"){0,10}\?$/;

/** Messages of graphql-js that hold identifiers only, never a value. */
const NAMES_ONLY = [
  /^Cannot query field "\w+" on type "\w+"\./,
  /^Unknown argument "\w+" on (?:field|directive) "[@\w.]+"\./,
  /^Unknown (?:type|fragment|directive) "@?\w+"\./,
  /^Field "\w+" argument "\w+" of type "[\w![\]]+" is required, but it was not provided\./,
  /^Field "[\w.]+" of required type "[\w![\]]+" was not provided\./,
  /^Field "\w+" is not defined by type "\w+"\./,
  /^Field "\w+" must not have a selection since type "[\w![\]]+" has no subfields\./,
  /^Field "\w+" of type "[\w![\]]+" must have a selection of subfields\./,
  /^Variable "\$\w+" (?:is not defined|is never used)[^"]*(?:"\w+")?\./,
  /^Variable "\$\w+" of type "[\w![\]]+" used in position expecting type "[\w![\]]+"\./,
  /^Variable "\$\w+" cannot be non-input type "[\w![\]]+"\./,
  /^There can be only one (?:argument|variable|operation|fragment) named "\$?\w+"\./,
  /^Fragment "\w+" (?:is never used|cannot be spread here)[^"]*(?:"\w+"[^"]*)*\./,
  /^Cannot spread fragment "\w+" within itself\b[^"]*(?:"\w+"[^"]*)*\./,
  /^Anonymous Subscription must select only one top level field\./,
  /^Subscription "\w+" must select only one top level field\./,
  /^This anonymous operation must be the only defined operation\./,
];

/** A failure of parse or validate, told without any value. `suggest`: the caller may read the schema, and is told what it may have meant. */
export function rewriteDocumentErrors(
  errors: readonly Error[],
  document: DocumentNode | null,
  schema: GraphQLSchema,
  suggest: boolean,
): MusterError {
  const issues: Issue[] = [];
  for (const error of errors.slice(0, 50)) {
    const limit = TOKEN_LIMIT.exec(error.message)?.[1];
    if (limit !== undefined) issues.push({ path: '', code: 'LIMIT', message: `Token limit of ${limit} exceeded.` });
    else if (error.message === 'Maximum introspection depth exceeded')
      issues.push({ path: '', code: 'LIMIT', message: 'Introspection must not go round in circles.' });
    else if (document === null) issues.push(syntaxIssue(error));
    else issues.push(validationIssue(error, document, schema, suggest));
  }
  const first = issues[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new MusterError('BAD_INPUT', `${describe(first)}${more}`, { issues });
}

function describe(issue: Issue | undefined): string {
  if (!issue) return 'The document is not valid.';
  return issue.path ? `${issue.path}: ${issue.message}` : issue.message;
}

function syntaxIssue(error: Error): Issue {
  const at = error instanceof GraphQLError ? error.locations?.[0] : undefined;
  return {
    path: '',
    code: 'SYNTAX',
    message: at
      ? `The document has a syntax error at line ${at.line}, column ${at.column}.`
      : 'The document has a syntax error.',
  };
}

function validationIssue(error: Error, document: DocumentNode, schema: GraphQLSchema, suggest: boolean): Issue {
  const places = (error instanceof GraphQLError ? (error.nodes ?? []) : []).map((node) =>
    placeOf(node, document, schema),
  );
  const place = places.find(({ hidden }) => hidden) ??
    places.sort((a, b) => b.path.length - a.path.length)[0] ?? { path: '', hidden: false };
  if (place.hidden) return { path: place.path, code: 'INVALID', message: 'is not a valid routing input' };
  const names = NAMES_ONLY.map((pattern) => pattern.exec(error.message)?.[0]).find((text) => text !== undefined);
  if (names !== undefined) {
    const suggestion = suggest ? (SUGGESTION.exec(error.message)?.[0] ?? '') : '';
    return { path: place.path, code: 'INVALID', message: names.replace(/ Did you mean.*$/, '') + suggestion };
  }
  const rule =
    error instanceof GraphQLError && error.originalError instanceof RuleError ? error.originalError.message : undefined;
  if (/differing arguments|conflict/.test(error.message) && place.path !== '') {
    return {
      path: place.path,
      code: 'INVALID',
      message: 'the same name is selected twice with different meanings; use aliases',
    };
  }
  return { path: place.path, code: 'INVALID', message: rule ?? 'the value does not fit the type of this place' };
}

/** Names of the fields, arguments and input fields that lead to a node; `hidden`: the node is inside a routing input. */
function placeOf(target: ASTNode, document: DocumentNode, schema: GraphQLSchema): { path: string; hidden: boolean } {
  let found: { path: string; hidden: boolean } | null = null;
  const names: { name: string; routing: boolean }[] = [];
  const named = (node: ASTNode): string | null =>
    node.kind === Kind.FIELD || node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD ? node.name.value : null;
  visit(document, {
    enter(node) {
      if (found) return false;
      const name = named(node);
      const above = names.at(-1)?.routing ?? false;
      if (node === target) {
        const keep = name !== null && !above;
        found = {
          path: [
            ...names.filter((_, i) => i === 0 || !names[i - 1]?.routing).map((n) => n.name),
            ...(keep ? [name] : []),
          ].join('.'),
          hidden: above,
        };
        return false;
      }
      if (name !== null)
        names.push({ name, routing: above || (node.kind !== Kind.FIELD && holdsRouting(name, schema)) });
      return undefined;
    },
    leave(node) {
      if (named(node) !== null) names.pop();
    },
  });
  return found ?? { path: '', hidden: false };
}

/** The contract gives the name `routingInput` to no other input than routing input. */
function holdsRouting(name: string, schema: GraphQLSchema): boolean {
  return name.toLowerCase().replaceAll('_', '') === 'routinginput' && schema.getType('RoutingInput') !== undefined;
}

/**
 * What is wrong with the variables of an operation, as path and rule, or null where they are fine. Called only after graphql-js has
 * refused them: the walk is the same, the texts are ours.
 */
export function rewriteVariableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: unknown,
): MusterError {
  const given = typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : {};
  const issues: Issue[] = [];
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type as never);
    if (!isInputType(type)) continue;
    if (!Object.hasOwn(given, name)) {
      if (definition.type.kind === Kind.NON_NULL_TYPE && !definition.defaultValue) {
        issues.push({ path: `$${name}`, code: 'REQUIRED', message: `is required and must be a ${String(type)}` });
      }
      continue;
    }
    coerceInputValue(given[name], type, (path, _value, error) => {
      if (issues.length < 50) issues.push(variableIssue(name, path, error, type));
    });
  }
  const first = issues[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new MusterError(
    'BAD_INPUT',
    first ? `${first.path} ${first.message}${more}` : 'The variables do not fit the operation.',
    { issues },
  );
}

function variableIssue(
  name: string,
  path: readonly (string | number)[],
  error: GraphQLError,
  type: GraphQLInputType,
): Issue {
  const cut = path.findIndex(
    (key) => typeof key === 'string' && key.toLowerCase().replaceAll('_', '') === 'routinginput',
  );
  const shown = cut === -1 ? path : path.slice(0, cut + 1);
  const at = [`$${name}`, ...shown.map(String)].join('.');
  const message = error.message;
  const required = /^Field "(\w+)" of required type "([\w![\]]+)" was not provided\./.exec(message);
  if (required)
    return { path: `${at}.${required[1]}`, code: 'REQUIRED', message: `is required and must be a ${required[2]}` };
  const unknown = /^Field "(\w{1,64})" is not defined by type "(\w+)"/.exec(message);
  if (unknown)
    return { path: `${at}.${unknown[1]}`, code: 'UNKNOWN_FIELD', message: `is not a field of ${unknown[2]}` };
  if (/^Field ".*" is not defined by type/s.test(message))
    return { path: at, code: 'UNKNOWN_FIELD', message: 'has a field that its type does not have' };
  const notNull = /^Expected non-nullable type "([\w![\]]+)" not to be null\.$/.exec(message);
  if (notNull) return { path: at, code: 'REQUIRED', message: `must not be null: it is a ${notNull[1]}` };
  const object = /^Expected type "(\w+)" to be an object\.$/.exec(message);
  if (object) return { path: at, code: 'INVALID', message: `must be an object: it is a ${object[1]}` };
  if (error.originalError instanceof RuleError)
    return { path: at, code: 'INVALID', message: error.originalError.message };
  const leaf =
    /^(\w+) cannot represent/.exec(message)?.[1] ??
    /^Expected type "(\w+)"\./.exec(message)?.[1] ??
    /^Value ".*" does not exist in "(\w+)" enum/s.exec(message)?.[1] ??
    /^Enum "(\w+)" cannot represent/.exec(message)?.[1];
  const named = leaf ?? (isLeafType(getNullableType(type)) ? String(getNullableType(type)) : null);
  return { path: at, code: 'INVALID', message: named ? `must be a ${named}` : 'does not fit its type' };
}
