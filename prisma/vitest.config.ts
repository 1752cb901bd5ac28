import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tools/**/*.test.ts'],
    globalSetup: ['./src/testing/global-setup.ts'],
    // Databases are started and killed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
