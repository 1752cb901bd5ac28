import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import type { AccessRule } from '../modules/viewer/access-rule.ts';

/** Whether an operation is for anybody: every field that it asks for at its root says so. Fragments are not looked into. */
export function isOpen(schema: GraphQLSchema, node: OperationDefinitionNode): boolean {
  return everyRule(schema, node, (rule) => rule.anybody === true);
}

/** Whether an operation is a worker's work alone. Fragments are not looked into. */
export function isWorkerProtocol(schema: GraphQLSchema, node: OperationDefinitionNode): boolean {
  return everyRule(schema, node, (rule) => rule.serves !== undefined);
}

function everyRule(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  holds: (rule: AccessRule) => boolean,
): boolean {
  const fields = schema.getRootType(operation)?.getFields() ?? {};
  return selectionSet.selections.every((selection) => {
    if (selection.kind !== Kind.FIELD) return false;
    const options = fields[selection.name.value]?.extensions['pothosOptions'] as
      | { authScopes?: AccessRule }
      | undefined;
    return options?.authScopes !== undefined && holds(options.authScopes);
  });
}

/** What a subscription takes: the rule of its one field. */
export function ruleOf(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): AccessRule {
  const [selection] = selectionSet.selections;
  const name = selection?.kind === Kind.FIELD ? selection.name.value : '';
  const field = schema.getRootType(operation)?.getFields()[name];
  const options = field?.extensions['pothosOptions'] as { authScopes?: AccessRule } | undefined;
  return options?.authScopes ?? { known: true };
}
