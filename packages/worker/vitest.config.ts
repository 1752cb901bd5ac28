import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The tests take names and servers from what they are given, not from whoever runs them.
    env: {
      SERVICE_ROLE: '',
      MUSTER_WORKER_NAME: '',
      MUSTER_SERVER: '',
      MUSTER_TOKEN: '',
      MUSTER_JOIN_TOKEN: '',
      MUSTER_CREDENTIAL_FILE: '',
    },
    // Most of the time a file waits for servers, workers and processes of handlers that it has started.
    maxWorkers: 2,
    // None of these tests is about speed: a machine may be busy with other things.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
