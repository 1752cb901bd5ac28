import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    globalSetup: ['@muster/db/testing/global-setup'],
    // Real databases, sockets and processes.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
