import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite would load graphql's ES modules and Node, for graphql-ws, its CommonJS ones: two graphqls that refuse each other.
  test: { server: { deps: { inline: ['graphql-ws'] } } },
});
