import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Nothing waits here: properties are tried on many cases, which takes as long as the machine is busy with other things.
    testTimeout: 60_000,
  },
});
