import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['blackbox/**/*.test.ts', 'contract/**/*.test.ts', 'security/**/*.test.ts'],
    // Each file starts servers and workers of its own; more at once only makes all of them slow.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
