import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The tests take names and servers from what they are given, not from whoever runs them.
  test: { testTimeout: 30_000, env: { SERVICE_ROLE: '', MUSTER_WORKER_NAME: '', MUSTER_SERVER: '', MUSTER_TOKEN: '' } },
});
