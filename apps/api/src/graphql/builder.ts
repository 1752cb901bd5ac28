import SchemaBuilder from '@pothos/core';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { JsonObject, JsonValue } from '@muster/core';
import { ACCESS_CHECKS, type AccessRule } from '../modules/viewer/access-rule.ts';
import type { Context } from './context.ts';

type Scopes = Required<{ [K in keyof AccessRule]: NonNullable<AccessRule[K]> }>;

/**
 * The one schema builder. Fields are non-null and inputs optional unless they say otherwise. Every field of Query, Mutation and Subscription says in
 * `authScopes` whom it lets in; access-rules.test.ts finds those that do not.
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  AuthScopes: Scopes;
  DefaultAuthStrategy: 'all';
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: JsonValue; Output: JsonValue };
    JSONObject: { Input: JsonObject; Output: JsonObject };
    RoutingInput: { Input: JsonValue; Output: never };
  };
}>({
  defaultFieldNullability: false,
  plugins: [ScopeAuthPlugin],
  scopeAuth: {
    defaultStrategy: 'all',
    // Before a stream begins; what it shows is filtered by its source, event by event.
    authorizeOnSubscribe: true,
    authScopes: (context) => ({
      anybody: true,
      known: (wanted) => passes(() => ACCESS_CHECKS.known(wanted, context.viewer)),
      signedIn: (wanted) => passes(() => ACCESS_CHECKS.signedIn(wanted, context.viewer)),
      permission: (wanted) => passes(() => ACCESS_CHECKS.permission(wanted, context.viewer)),
      reads: (wanted) => passes(() => ACCESS_CHECKS.reads(wanted, context.viewer)),
      blind: (wanted) => passes(() => ACCESS_CHECKS.blind(wanted, context.viewer)),
      serves: (wanted) => passes(() => ACCESS_CHECKS.serves(wanted, context.viewer)),
      registers: (wanted) => passes(() => ACCESS_CHECKS.registers(wanted, context.viewer)),
      worker: (wanted) => passes(() => ACCESS_CHECKS.worker(wanted, context.viewer)),
    }),
  },
});

builder.queryType({});
builder.mutationType({});
builder.subscriptionType({});

/** The check throws the error that is answered. */
function passes(check: () => void): boolean {
  check();
  return true;
}
