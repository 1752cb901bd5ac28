import { EnvelopArmor } from '@escape.tech/graphql-armor';
import type { Plugin } from 'graphql-yoga';

/** What one document may be; the refusal names the limit. How much an answer may hold is bounded by `spendNodes`. */
export const LIMITS = { depth: 14, aliases: 30, directives: 50, tokens: 4_000, cost: 200_000 } as const;

/** Depth, aliases, directives, tokens and cost; "did you mean" is off, it would tell the schema to whoever may not read it. */
export function limitPlugins(): Plugin[] {
  const { plugins } = new EnvelopArmor({
    maxDepth: { n: LIMITS.depth, flattenFragments: true },
    maxAliases: { n: LIMITS.aliases },
    maxDirectives: { n: LIMITS.directives },
    maxTokens: { n: LIMITS.tokens },
    costLimit: { maxCost: LIMITS.cost, flattenFragments: true, depthCostFactor: 1.1 },
    blockFieldSuggestion: { enabled: true },
  }).protect();
  return plugins as Plugin[];
}
