import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  readonly operation: string;
  readonly variables: Record<string, unknown>;
  readonly headers: IncomingHttpHeaders;
}

type Answer = {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly issues?: unknown };
};

/** An HTTP server that answers each GraphQL operation by its name, as a test says, and remembers what it was asked. */
export async function answeringServer(answers: Record<string, Answer | (() => Answer)>) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { query: string; variables: Record<string, unknown> };
    const operation = /(?:query|mutation) (\w+)/.exec(body.query)?.[1] ?? '';
    received.push({ operation, variables: body.variables, headers: request.headers });
    const given = answers[operation];
    const answer = typeof given === 'function' ? given() : given;
    const { code, message, issues } = answer?.error ?? {};
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        answer?.error === undefined
          ? { data: answer?.data ?? null }
          : { data: null, errors: [{ message, extensions: { code, issues } }] },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
