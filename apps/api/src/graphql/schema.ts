import type { GraphQLSchema } from 'graphql';
import './scalars.ts';
import '../modules/viewer/viewer.graphql.ts';
import { builder } from './builder.ts';

/** The whole schema; every module above adds its types to the builder when it is loaded. */
export function buildSchema(): GraphQLSchema {
  return builder.toSchema();
}
