import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
} from 'graphql';

/**
 * What `contract` promises and `actual` does not keep, as sentences; empty where it keeps all of it.
 * Fields and arguments must have the very same types and defaults; what is added must be optional for callers.
 */
export function brokenPromises(contract: GraphQLSchema, actual: GraphQLSchema): string[] {
  return Object.values(contract.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
    .flatMap((promised) => {
      const found = actual.getType(promised.name);
      return found ? compareTypes(promised, found) : [`type ${promised.name} is missing`];
    });
}

function compareTypes(promised: GraphQLNamedType, found: GraphQLNamedType): string[] {
  if (promised.constructor !== found.constructor) return [`${promised.name} is of another kind`];
  if ((isObjectType(promised) || isInterfaceType(promised)) && (isObjectType(found) || isInterfaceType(found))) {
    const interfaces = new Set(found.getInterfaces().map((type) => type.name));
    const lost = promised.getInterfaces().filter((type) => !interfaces.has(type.name));
    return [
      ...lost.map((type) => `${promised.name} does not implement ${type.name}`),
      ...Object.values(promised.getFields()).flatMap((field) => {
        const name = `${promised.name}.${field.name}`;
        const actual = found.getFields()[field.name];
        if (!actual) return [`${name} is missing`];
        return [
          ...sameType(name, field.type, actual.type),
          ...compareInputs(name, field.args, actual.args, isRequiredArgument),
        ];
      }),
    ];
  }
  if (isInputObjectType(promised) && isInputObjectType(found)) {
    return compareInputs(
      promised.name,
      Object.values(promised.getFields()),
      Object.values(found.getFields()),
      isRequiredInputField,
    );
  }
  if (isEnumType(promised) && isEnumType(found)) {
    return promised
      .getValues()
      .flatMap(({ name }) => (found.getValue(name) ? [] : [`${promised.name}.${name} is missing`]));
  }
  return [];
}

function compareInputs<T extends GraphQLArgument | GraphQLInputField>(
  owner: string,
  promised: readonly T[],
  found: readonly T[],
  isRequired: (input: T) => boolean,
): string[] {
  const names = new Set(promised.map((input) => input.name));
  const added = found.filter((input) => !names.has(input.name) && isRequired(input));
  return [
    ...added.map((input) => `${owner}(${input.name}) is new and not optional`),
    ...promised.flatMap((input) => {
      const name = `${owner}(${input.name})`;
      const actual = found.find((other) => other.name === input.name);
      if (!actual) return [`${name} is missing`];
      const sameDefault = JSON.stringify(input.defaultValue) === JSON.stringify(actual.defaultValue);
      return [...sameType(name, input.type, actual.type), ...(sameDefault ? [] : [`${name} has another default`])];
    }),
  ];
}

function sameType(name: string, promised: GraphQLType, found: GraphQLType): string[] {
  return String(promised) === String(found) ? [] : [`${name} is ${String(found)}, promised was ${String(promised)}`];
}
