import { createServer, connect, type Server, type Socket } from 'node:net';

/** A TCP link to a server that can be cut as a network is: nothing gets through and nobody is told. */
export class CuttableLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #cut = false;

  private constructor(target: () => number) {
    this.#server = createServer((near) => this.#join(near, target()));
  }

  /** @param target the port it leads to, asked at each connection. */
  static async open(target: () => number): Promise<CuttableLink> {
    const link = new CuttableLink(target);
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject);
      link.#server.listen(0, '127.0.0.1', resolve);
    });
    const address = link.#server.address();
    if (typeof address === 'object' && address) link.#port = address.port;
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** From now on bytes go nowhere, of old connections and of new ones. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Bytes flow again; what was sent meanwhile arrives late. */
  mend(): void {
    this.#cut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket, port: number): void {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      // Not pipe(): it would resume by itself what a cut has paused.
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#cut) from.pause();
    }
  }
}
