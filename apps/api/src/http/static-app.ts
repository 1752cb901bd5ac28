import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import { pagePolicy } from './security-headers.ts';

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
    return (_request, response) =>
      sendText(
        response,
        404,
        'The admin app is not built here. Run `npm run setup`, then start again. The API is at /graphql.\n',
      );
  }
  const page = readFileSync(join(dir, 'index.html'), 'utf8');
  // What lies in the folder is listed once, at the start: no path of a request ever reaches the file system.
  const serve = sirv(dir, {
    etag: true,
    dotfiles: false,
    extensions: [],
    setHeaders: (response, path) => {
      // Built assets carry a hash in their name; the others do not.
      response.setHeader(
        'cache-control',
        path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    },
  });
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return sendText(response, 405, 'Use GET.\n');
    }
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/' || path === '/index.html') return sendPage(request, response, page);
    serve(request, response, () => {
      if (isFile(path)) sendText(response, 404, 'Not found\n');
      else sendPage(request, response, page);
    });
  };
}

/** Addresses below which there are files only; names in the addresses of pages may have dots. */
function isFile(path: string): boolean {
  return path.startsWith('/assets/') || path.startsWith('/.') || /^\/[^/]*\.[^/]*$/.test(path);
}

/** Each with a nonce of its own, where Vite and the app look for it. */
function sendPage(request: IncomingMessage, response: ServerResponse, page: string): void {
  const nonce = randomBytes(16).toString('base64');
  const text = page.replace('<head>', `<head>\n    <meta property="csp-nonce" nonce="${nonce}" />`);
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'content-security-policy': pagePolicy(nonce),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(text);
}
