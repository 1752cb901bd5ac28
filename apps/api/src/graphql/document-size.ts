import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** How large a document is with all its fragments spread out. Saturates at `Number.MAX_SAFE_INTEGER`. */
export interface DocumentSize {
  readonly operations: number;
  readonly fragments: number;
  /** Selected fields; one in a fragment counts at every place that spreads it. */
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
  /** Levels of fields of what is data; those below `__schema` and `__type` are counted in `introspection`. */
  readonly depth: number;
  /** Levels of fields below `__schema` and `__type`; 0: the document asks for no part of the schema. */
  readonly introspection: number;
}

type Part = Omit<DocumentSize, 'operations' | 'fragments'>;

const NOTHING: Part = { fields: 0, aliases: 0, directives: 0, depth: 0, introspection: 0 };

/**
 * Measures every operation and fragment in time that grows with the text alone: a fragment is walked once, however often it is spread.
 * One that spreads itself counts as without end.
 */
export function sizeOfDocument(document: DocumentNode): DocumentSize {
  const fragments = fragmentsOf(document);
  const walk = new Walk(fragments);
  let total = NOTHING;
  let operations = 0;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      operations++;
      const directives =
        (definition.directives?.length ?? 0) +
        (definition.variableDefinitions ?? []).reduce((sum, { directives }) => sum + (directives?.length ?? 0), 0);
      total = together(total, { ...NOTHING, directives });
      total = together(total, walk.selections(definition.selectionSet));
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      // Also where nothing spreads it: its validation is paid for all the same.
      total = together(total, walk.fragment(definition.name.value));
    }
  }
  return { ...total, operations, fragments: fragments.size };
}

/** Response names and what is selected below them. */
type Names = Map<string, Names>;

/**
 * How many of a document's fields are selected again at a place where they are already. The comparison of such fields takes time by their square.
 * Walks every field with fragments spread out: only for documents whose number of them is bounded.
 */
export function repeatedFields(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  let repeated = 0;
  const walk = (set: SelectionSetNode, names: Names): void => {
    for (const node of set.selections) {
      if (node.kind === Kind.INLINE_FRAGMENT) walk(node.selectionSet, names);
      else if (node.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(node.name.value);
        if (fragment) walk(fragment.selectionSet, names);
      } else {
        const name = (node.alias ?? node.name).value;
        const known = names.get(name);
        if (known !== undefined) repeated++;
        const below = known ?? new Map<string, Names>();
        if (known === undefined) names.set(name, below);
        if (node.selectionSet) walk(node.selectionSet, below);
      }
    }
  };
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION)
      walk(definition.selectionSet, new Map());
  return repeated;
}

function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  return fragments;
}

class Walk {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Part>();

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  fragment(name: string): Part {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const definition = this.#fragments.get(name);
    if (definition === undefined) return NOTHING;
    // What is met again while it is being walked spreads itself.
    this.#known.set(name, { ...NOTHING, fields: Number.MAX_SAFE_INTEGER });
    const directives = definition.directives?.length ?? 0;
    const part = together({ ...NOTHING, directives }, this.selections(definition.selectionSet));
    this.#known.set(name, part);
    return part;
  }

  selections(set: SelectionSetNode): Part {
    let total = NOTHING;
    for (const node of set.selections) {
      const directives = node.directives?.length ?? 0;
      if (node.kind === Kind.FIELD) {
        const below = node.selectionSet ? this.selections(node.selectionSet) : NOTHING;
        const ofSchema = node.name.value === '__schema' || node.name.value === '__type';
        total = together(total, {
          fields: sum(below.fields, 1),
          aliases: sum(below.aliases, node.alias ? 1 : 0),
          directives: sum(below.directives, directives),
          depth: ofSchema ? 1 : below.depth + 1,
          introspection: ofSchema ? below.depth + 1 : below.introspection,
        });
      } else {
        const below =
          node.kind === Kind.INLINE_FRAGMENT ? this.selections(node.selectionSet) : this.fragment(node.name.value);
        total = together(total, { ...below, directives: sum(below.directives, directives) });
      }
    }
    return total;
  }
}

/** Side by side: what is counted adds up, levels do not. */
function together(a: Part, b: Part): Part {
  return {
    fields: sum(a.fields, b.fields),
    aliases: sum(a.aliases, b.aliases),
    directives: sum(a.directives, b.directives),
    depth: Math.max(a.depth, b.depth),
    introspection: Math.max(a.introspection, b.introspection),
  };
}

function sum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}
