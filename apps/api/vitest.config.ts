import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite would load graphql's ES modules and Node, for everything that stands on it, its CommonJS ones: two graphqls that refuse each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['src/**/*.test.ts'],
    globalSetup: ['@muster/db/testing/global-setup'],
    // Real databases, sockets and processes.
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
