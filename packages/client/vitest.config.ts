import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Vite would load graphql's ES modules and Node, for graphql-ws, its CommonJS ones: two graphqls that refuse each other.
    server: { deps: { inline: ['graphql-ws'] } },
    // None of these tests is about speed: a machine may be busy with other things.
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
