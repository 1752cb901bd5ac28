import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isObjectType,
  isInterfaceType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  typeFromAST,
  type GraphQLNamedType,
  type ValueNode,
} from 'graphql';
import { DEFAULT_PAGE, MAX_PAGE } from './connection.ts';

/** What a list is taken to hold where nothing in the request says how many. */
const LIST_LENGTH = 10;

/** Fields whose answer takes more work than reading what is there; on top of the 1 that every field costs. */
export const SURCHARGES: Readonly<Record<string, number>> = {
  'Query.checkPolicy': 50,
  'Query.previewDispatch': 200,
  'Query.previewDeployment': 100,
  'Query.previewSchedule': 50,
  'Query.executionCounts': 100,
  'Query.fleetHistory': 100,
  'Query.selectorKeys': 50,
  'Execution.whyWaiting': 100,
  'ExecutionConnection.totalCount': 50,
  'DispatchDecisionConnection.totalCount': 50,
};

/** Each element of a list in a mutation's input, e.g. each run of `runWorkflows`. */
const INPUT_ELEMENT = 10;
/** A write beside what it answers. */
const MUTATION = 20;

type Variables = Readonly<Record<string, unknown>>;

/**
 * What an operation may cost at most: 1 for each field that would be resolved, with lists at the length that is asked for, plus surcharges.
 * It is computed from the document, the variables and the schema alone, before anything runs. Saturates at `Number.MAX_SAFE_INTEGER`.
 * The document must be valid.
 */
export function priceOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number {
  const root = schema.getRootType(operation.operation);
  if (!root) return 0;
  return new Pricing(schema, document, operation, variables).selections(operation.selectionSet, root, null);
}

class Pricing {
  readonly #schema: GraphQLSchema;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #known = new Map<string, number>();
  readonly #operation: OperationDefinitionNode;
  readonly #variables: Variables;

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables) {
    this.#schema = schema;
    this.#operation = operation;
    this.#variables = variables;
    for (const definition of document.definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
  }

  /** `page`: how many items the connection has that these selections stand in; null: they stand in none. */
  selections(set: SelectionSetNode, type: GraphQLNamedType, page: number | null): number {
    let price = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) price = add(price, this.#field(node, type, page));
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const on = node.typeCondition ? typeFromAST(this.#schema, node.typeCondition) : type;
        if (on) price = add(price, this.selections(node.selectionSet, on, page));
      } else price = add(price, this.#fragment(node.name.value, page));
    }
    return price;
  }

  #fragment(name: string, page: number | null): number {
    const key = `${page} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const definition = this.#fragments.get(name);
    const type = definition && typeFromAST(this.#schema, definition.typeCondition);
    const price = definition && type ? this.selections(definition.selectionSet, type, page) : 0;
    this.#known.set(key, price);
    return price;
  }

  #field(node: FieldNode, type: GraphQLNamedType, page: number | null): number {
    const field = this.#definition(node.name.value, type);
    if (field === undefined) return 1;
    const name = `${type.name}.${field.name}`;
    const own = 1 + (SURCHARGES[name] ?? 0) + this.#writes(node, type);
    const returned = getNamedType(field.type);
    const times = this.#times(node, field, page);
    const below =
      node.selectionSet && isCompositeType(returned)
        ? this.selections(node.selectionSet, returned, this.#pageSize(node, field))
        : 0;
    return add(own, multiply(times, below));
  }

  #definition(name: string, type: GraphQLNamedType): GraphQLField<unknown, unknown> | undefined {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  }

  /** How many values the field gives for which its selections are resolved. */
  #times(node: FieldNode, field: GraphQLField<unknown, unknown>, page: number | null): number {
    if (!isListType(getNullableType(field.type))) return 1;
    if (page !== null && (field.name === 'edges' || field.name === 'nodes')) return page;
    const asked = this.#pageSize(node, field);
    if (asked !== null) return asked;
    const lists = (node.arguments ?? []).map(({ value }) => this.#length(value)).filter((length) => length > 0);
    return lists.length > 0 ? Math.max(...lists) : LIST_LENGTH;
  }

  /** Items of the page that the field asks for; null: it has no pages. */
  #pageSize(node: FieldNode, field: GraphQLField<unknown, unknown>): number | null {
    if (!field.args.some(({ name }) => name === 'first')) return null;
    const sizes = (node.arguments ?? [])
      .filter(({ name }) => name.value === 'first' || name.value === 'last')
      .map(({ value }) => Number(this.#value(value) ?? Number.NaN))
      .filter((size) => !Number.isNaN(size));
    return Math.min(Math.max(sizes.length > 0 ? Math.max(...sizes) : DEFAULT_PAGE, 1), MAX_PAGE);
  }

  #writes(node: FieldNode, type: GraphQLNamedType): number {
    if (type !== this.#schema.getMutationType()) return 0;
    const elements = (node.arguments ?? []).reduce((sum, { value }) => sum + this.#elements(value), 0);
    return MUTATION + elements * INPUT_ELEMENT;
  }

  /** Elements of the lists that an input object holds directly. */
  #elements(node: ValueNode): number {
    if (node.kind === Kind.OBJECT) return node.fields.reduce((sum, { value }) => sum + this.#length(value), 0);
    const value = this.#value(node);
    if (typeof value !== 'object' || value === null) return 0;
    return Object.values(value).reduce((sum: number, item) => sum + (Array.isArray(item) ? item.length : 0), 0);
  }

  #length(node: ValueNode): number {
    if (node.kind === Kind.LIST) return node.values.length;
    const value = node.kind === Kind.VARIABLE ? this.#value(node) : undefined;
    return Array.isArray(value) ? value.length : 0;
  }

  /** Of a literal number or a variable; everything else is not needed. */
  #value(node: ValueNode): unknown {
    if (node.kind === Kind.INT) return Number(node.value);
    if (node.kind !== Kind.VARIABLE) return undefined;
    const name = node.name.value;
    if (Object.hasOwn(this.#variables, name)) return this.#variables[name];
    const definition = this.#operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return definition?.defaultValue?.kind === Kind.INT ? Number(definition.defaultValue.value) : undefined;
  }
}

function add(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

function multiply(a: number, b: number): number {
  return Math.min(a * b, Number.MAX_SAFE_INTEGER);
}
