import { defineConfig } from 'vitest/config';

/** The soak by itself: it needs the machine for its own processes. */
export default defineConfig({
  test: {
    include: ['soak/**/*.test.ts'],
    fileParallelism: false,
    globalSetup: '@muster/db/testing/global-setup',
    testTimeout: 600_000,
    hookTimeout: 240_000,
  },
});
