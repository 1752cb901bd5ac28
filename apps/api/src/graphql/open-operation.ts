import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import type { AccessRule } from '../modules/viewer/access-rule.ts';

/** Whether an operation is for anybody: every field that it asks for at its root says so. Fragments are not looked into. */
export function isOpen(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): boolean {
  const fields = schema.getRootType(operation)?.getFields() ?? {};
  return selectionSet.selections.every((selection) => {
    if (selection.kind !== Kind.FIELD) return false;
    const options = fields[selection.name.value]?.extensions['pothosOptions'] as
      | { authScopes?: AccessRule }
      | undefined;
    return options?.authScopes?.anybody === true;
  });
}
