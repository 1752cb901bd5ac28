import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';

/** A GraphQL document as text that knows the types of its result and its variables; what codegen's string mode makes. */
export type TypedDocument<TResult, TVariables> = DocumentTypeDecoration<TResult, TVariables> & { toString(): string };
