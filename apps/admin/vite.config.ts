import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/** The API that the development server stands in front of. */
const api = process.env['MUSTER_API'] ?? 'http://127.0.0.1:4000';

// The API takes a cookie only together with its own host and origin, so the proxy speaks in its name.
const proxied = { target: api, changeOrigin: true, headers: { origin: api } };

export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/graphql': { ...proxied, ws: true }, '/session': proxied } },
  build: { outDir: 'dist', chunkSizeWarningLimit: 500 },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], testTimeout: 60_000 },
});
