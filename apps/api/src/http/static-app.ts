import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Beside the bundle first, then where the sources build it. */
export function findAdminDir(configured: string | null): string | null {
  const places =
    configured === null
      ? ['./admin/', '../../../admin/dist/', '../../../../apps/admin/dist/'].map((place) =>
          fileURLToPath(new URL(place, import.meta.url)),
        )
      : [configured];
  return places.find((place) => existsSync(join(place, 'index.html'))) ?? null;
}

/** Serves the built admin app; every page of it is index.html. Without one it says how to build it. */
export function createStaticApp(dir: string | null): RequestHandler {
  if (dir === null) {
    return (_request, response) => {
      response.writeHead(404, { ...securityHeaders(''), 'content-type': 'text/plain; charset=utf-8' });
      response.end('The admin app is not built here. Run `npm run setup`, then start again. The API is at /graphql.\n');
    };
  }
  const headers = securityHeaders(readFileSync(join(dir, 'index.html'), 'utf8'));
  const serve = sirv(dir, {
    single: true,
    etag: true,
    dotfiles: false,
    setHeaders: (response, path) => {
      // Built assets carry a hash in their name; pages do not.
      response.setHeader(
        'cache-control',
        path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    },
  });
  return (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' });
      response.end();
      return;
    }
    serve(request, response, () => {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('Not found\n');
    });
  };
}

/** Only our own scripts run, plus the inline ones of index.html by their hash; nobody may frame the app. */
function securityHeaders(page: string): Record<string, string> {
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text]) =>
      `'sha256-${createHash('sha256')
        .update(text ?? '')
        .digest('base64')}'`,
  );
  return {
    'content-security-policy': [
      "default-src 'none'",
      ["script-src 'self'", ...inline].join(' '),
      // The component library sets styles from script.
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      "worker-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
}
