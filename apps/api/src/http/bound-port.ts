import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../config.ts';
import { StartError } from '../start-error.ts';

/** The port is ours; until `startHttpServer` takes over, whoever asks is told that the server starts. */
export interface BoundPort {
  readonly server: Server;
  readonly port: number;
  /** For a start that failed. */
  close(): Promise<void>;
}

/**
 * Takes the port before anything else is opened: a second server must not touch the data directory or the database of the first.
 *
 * @throws StartError where the port is taken, or the address is not ours to listen on.
 */
export async function bindPort(config: Pick<Config, 'port' | 'host'>): Promise<BoundPort> {
  const server = createServer((_request, response) => {
    response.writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
      'retry-after': '1',
    });
    response.end('{"status":"not ready","reason":"starting"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => reject(bindFailure(error, config)));
    server.listen(config.port, config.host, () => resolve());
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bindFailure(error: Error & { code?: string }, { host, port }: Pick<Config, 'port' | 'host'>): Error {
  if (error.code === 'EADDRINUSE')
    return new StartError(`Port ${port} on ${host} is taken by another process; stop it or set PORT.`);
  return error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL'
    ? new StartError(`Cannot listen on ${host}:${port} (${error.code}).`)
    : error;
}
