import { readFileSync } from 'node:fs';
import {
  buildSchema as buildFromText,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  printSchema,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildSchema } from './schema.ts';

const text = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const ours = buildSchema();

describe('schema.graphql', () => {
  it('is what the code says; run print-schema.ts after a change', () => {
    expect(validateSchema(ours)).toEqual([]);
    expect(text('schema.graphql')).toBe(`${printSchema(ours)}\n`);
  });

  it('contains the whole contract', () => {
    const contract = buildFromText(text('contract.graphql'));
    expect(Object.keys(contract.getTypeMap()).length).toBeGreaterThan(130);
    expect(missing(contract, ours)).toEqual([]);
  });

  it('notices what is missing', () => {
    const contract = buildFromText(
      'type Query { viewer(extra: Int): String } enum WorkerStatus { ASLEEP } input KeyValueInput { key: String }',
    );
    expect(missing(contract, ours)).toEqual([
      'Query.viewer: String, not Viewer!',
      'Query.viewer(extra:) is missing',
      'WorkerStatus.ASLEEP is missing',
      'KeyValueInput.key: String, not String!',
      'KeyValueInput.value is required, which the contract does not know',
    ]);
  });
});

/** What the contract has and the schema has not: types, fields, arguments, defaults, enum values, interfaces; types must be equal. */
function missing(contract: GraphQLSchema, schema: GraphQLSchema): string[] {
  const found: string[] = [];
  const compare = (
    at: string,
    wanted: { type: unknown; defaultValue?: unknown },
    had: { type: unknown; defaultValue?: unknown } | undefined,
  ): void => {
    if (!had) found.push(`${at} is missing`);
    else if (String(wanted.type) !== String(had.type))
      found.push(`${at}: ${String(wanted.type)}, not ${String(had.type)}`);
    else if (JSON.stringify(wanted.defaultValue) !== JSON.stringify(had.defaultValue))
      found.push(`${at} has another default`);
  };
  for (const [name, wanted] of Object.entries(contract.getTypeMap())) {
    if (name.startsWith('__')) continue;
    const had = schema.getType(name);
    if (!had || had.constructor.name !== wanted.constructor.name) found.push(`${name} is missing`);
    if (isEnumType(wanted) && isEnumType(had)) {
      for (const value of wanted.getValues())
        if (!had.getValue(value.name)) found.push(`${name}.${value.name} is missing`);
    }
    if (isInputObjectType(wanted) && isInputObjectType(had)) {
      for (const field of Object.values<GraphQLInputField>(wanted.getFields()))
        compare(`${name}.${field.name}`, field, had.getFields()[field.name]);
      for (const field of Object.values<GraphQLInputField>(had.getFields())) {
        const required = String(field.type).endsWith('!') && field.defaultValue === undefined;
        if (required && !wanted.getFields()[field.name])
          found.push(`${name}.${field.name} is required, which the contract does not know`);
      }
    }
    if ((isObjectType(wanted) || isInterfaceType(wanted)) && (isObjectType(had) || isInterfaceType(had))) {
      for (const face of wanted.getInterfaces())
        if (!had.getInterfaces().some((other) => other.name === face.name))
          found.push(`${name} implements ${face.name}`);
      for (const field of Object.values<GraphQLField<unknown, unknown>>(wanted.getFields())) {
        const other = had.getFields()[field.name];
        compare(`${name}.${field.name}`, { type: field.type }, other && { type: other.type });
        for (const argument of field.args) {
          const same = other?.args.find((candidate) => candidate.name === argument.name);
          if (other && !same) found.push(`${name}.${field.name}(${argument.name}:) is missing`);
          else if (same) compare(`${name}.${field.name}(${argument.name}:)`, argument, same);
        }
      }
    }
  }
  return found;
}
