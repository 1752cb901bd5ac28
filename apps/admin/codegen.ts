import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types for the documents of this app, from the committed schema. Run by the `generate` script; the output is not committed. */
const config: CodegenConfig = {
  schema: '../api/schema.graphql',
  documents: ['src/**/*.{ts,tsx}', '!src/api/generated/**'],
  ignoreNoDocuments: true,
  generates: {
    './src/api/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        importExtension: '.ts',
        enumsAsTypes: true,
        scalars: {
          DateTime: 'string',
          JSON: 'unknown',
          JSONObject: 'Record<string, unknown>',
          RoutingInput: 'unknown',
        },
      },
    },
  },
};

export default config;
