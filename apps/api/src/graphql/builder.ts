import SchemaBuilder from '@pothos/core';
import type { JsonObject, JsonValue } from '@muster/core';
import type { Context } from './context.ts';

/** The one schema builder. Fields are non-null and inputs optional unless they say otherwise. */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: JsonValue; Output: JsonValue };
    JSONObject: { Input: JsonObject; Output: JsonObject };
    RoutingInput: { Input: JsonValue; Output: never };
  };
}>({ defaultFieldNullability: false });

builder.queryType({});
builder.mutationType({});
builder.subscriptionType({});
