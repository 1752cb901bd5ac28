import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types for the documents of this package, from the committed schema. Run by the `generate` script; the output is not committed. */
const config: CodegenConfig = {
  schema: '../../apps/api/schema.graphql',
  documents: ['src/documents/*.graphql'],
  generates: {
    './src/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        importExtension: '.ts',
        enumsAsTypes: true,
        scalars: {
          ID: 'string',
          DateTime: 'string',
          JSON: 'unknown',
          JSONObject: 'Record<string, unknown>',
          RoutingInput: 'Record<string, unknown>',
        },
      },
    },
  },
};

export default config;
