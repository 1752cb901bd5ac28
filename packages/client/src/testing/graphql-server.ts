import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

export interface TestServer {
  readonly url: string;
  /** Connection-init payloads, in order. */
  readonly inits: unknown[];
  /** Cuts every connection without a closing handshake. */
  cut(): void;
  close(): Promise<void>;
}

/** A graphql-transport-ws server on a free port (or the given one) of 127.0.0.1, for the tests of this package. */
export async function startGraphqlServer(
  schema: GraphQLSchema,
  options: { readonly port?: number; readonly token?: string } = {},
): Promise<TestServer> {
  const http: Server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ server: http, path: '/graphql' });
  const inits: unknown[] = [];
  const served = useServer(
    {
      schema,
      onConnect: (context) => {
        inits.push(context.connectionParams);
        const given = context.connectionParams?.['token'];
        if (options.token === undefined || given === options.token) return true;
        context.extra.socket.close(4401, 'no such token');
        return false;
      },
    },
    sockets,
  );
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    inits,
    cut: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
    close: async () => {
      if (!http.listening) return;
      for (const socket of sockets.clients) socket.terminate();
      await served.dispose();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
