import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tools/**/*.test.ts'],
    globalSetup: ['./src/testing/global-setup.ts'],
    // Databases are started and killed, which takes seconds of a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
