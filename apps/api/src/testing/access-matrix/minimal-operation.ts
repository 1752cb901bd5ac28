import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

const SCALARS: Readonly<Record<string, string>> = {
  ID: `"ex_${'0'.repeat(32)}"`,
  Int: '1',
  Float: '1',
  Boolean: 'false',
  DateTime: '"2026-01-01T00:00:00.000Z"',
  JSON: '{}',
  JSONObject: '{}',
  RoutingInput: '{}',
};

/** The smallest document that asks for this field of a root type: what must be given, and of the answer its type. `names`: values by argument or input field. */
export function minimalOperation(
  schema: GraphQLSchema,
  root: 'query' | 'mutation' | 'subscription',
  field: GraphQLField<unknown, unknown>,
  names: Readonly<Record<string, string>> = {},
): string {
  const given = field.args
    .filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined)
    .map(({ name, type }) => `${name}: ${literal(type, name, names)}`);
  const type = getNamedType(field.type);
  const selection = isObjectType(type) || !isLeaf(schema, type.name) ? ' { __typename }' : '';
  return `${root} { ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection} }`;
}

function isLeaf(schema: GraphQLSchema, name: string): boolean {
  const type = schema.getType(name);
  return type !== undefined && !('getFields' in type);
}

function literal(type: GraphQLInputType, name: string, names: Readonly<Record<string, string>>): string {
  const bare = getNullableType(type);
  if (isListType(bare)) return '[]';
  if (isEnumType(bare)) return bare.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields()).filter(
      (field) => isNonNullType(field.type) && field.defaultValue === undefined,
    );
    return `{ ${fields.map((field) => `${field.name}: ${literal(field.type, field.name, names)}`).join(', ')} }`;
  }
  return names[name] !== undefined ? JSON.stringify(names[name]) : (SCALARS[bare.name] ?? '"x"');
}
