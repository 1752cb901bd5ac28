import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const api = process.env['MUSTER_API'] ?? 'http://127.0.0.1:4000';

export default defineConfig({
  plugins: [react()],
  server: {
    proxy: {
      '/graphql': { target: api, ws: true },
      '/session': { target: api },
    },
  },
  build: { outDir: 'dist', chunkSizeWarningLimit: 400 },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
});
