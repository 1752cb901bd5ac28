// @ts-check
// The embedded database: PGlite in a thread of its own, spoken to over a unix socket with the ordinary PostgreSQL protocol, so that
// the rest of Muster uses one driver. PGlite is ONE session. Its own socket server queues protocol messages one by one and so mixes up the
// statements of two connections as soon as one of them is larger than a packet; this one never starts a group of messages (up to Sync) before
// it is complete and keeps the session with a connection until its transaction ends.
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

const SSL_REQUEST = 80877103;
const GSS_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const TERMINATE = 'X'.charCodeAt(0);
// Sync, Query, FunctionCall, Flush, CopyDone, CopyFail: what ends a group.
const GROUP_ENDS = new Set(['S', 'Q', 'F', 'H', 'c', 'f'].map((type) => type.charCodeAt(0)));
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);
/** What waits longer goes first, whatever its priority. */
const PATIENCE_MS = 2000;

/** @typedef {{ socket: import('node:net').Socket, started: boolean, priority: number, received: Buffer[], size: number, group: Buffer[] }} Connection */
/** @typedef {{ connection: Connection, message: Uint8Array, since: number }} Group */

const parent = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const { dataDir, socketPath } = /** @type {{ dataDir: string, socketPath: string }} */ (workerData);

const database = await PGlite.create(dataDir);
/** @type {Group[]} */
const waiting = [];
/** @type {Connection | null} the connection whose transaction is open */
let owner = null;
let busy = false;
/** @type {Set<Connection>} */
const connections = new Set();

const server = createServer((socket) => {
  /** @type {Connection} */
  const connection = { socket, started: false, priority: 1, received: [], size: 0, group: [] };
  connections.add(connection);
  socket.on('data', (chunk) => receive(connection, chunk));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => leave(connection));
});
server.on('error', (error) => parent.postMessage({ type: 'failed', message: error.message }));
server.listen(socketPath, () => parent.postMessage({ type: 'up' }));

parent.on('message', (message) => {
  if (message === 'stop') void stop();
});

async function stop() {
  server.close();
  for (const { socket } of connections) socket.destroy();
  // The session may be in the middle of a group; `close` waits for it.
  await database.close();
  parent.postMessage({ type: 'stopped' });
  parent.close();
}

/** @param {Connection} connection @param {Buffer} chunk */
function receive(connection, chunk) {
  connection.received.push(chunk);
  connection.size += chunk.length;
  for (;;) {
    const length = nextLength(connection);
    // Chunks are joined only when a message is complete: a large one is copied once.
    if (length === null || connection.size < length) return;
    const all = joined(connection);
    const message = all.subarray(0, length);
    connection.received = length === all.length ? [] : [all.subarray(length)];
    connection.size -= length;
    if (connection.started) regular(connection, message);
    else startup(connection, message);
  }
}

/** @param {Connection} connection @returns {Buffer} */
function joined(connection) {
  const all = connection.received.length === 1 ? connection.received[0] : Buffer.concat(connection.received);
  connection.received = all === undefined ? [] : [all];
  return all ?? Buffer.alloc(0);
}

/** @param {Connection} connection @returns {number | null} length of the next message, null while its header is incomplete */
function nextLength(connection) {
  const header = connection.started ? 5 : 8;
  if (connection.size < header) return null;
  const first = connection.received[0];
  const head = first !== undefined && first.length >= header ? first : joined(connection);
  return connection.started ? 1 + head.readInt32BE(1) : head.readInt32BE(0);
}

/** @param {Connection} connection @param {Buffer} message */
function startup(connection, message) {
  const code = message.readInt32BE(4);
  if (code === SSL_REQUEST || code === GSS_REQUEST) connection.socket.write('N');
  else if (code === CANCEL_REQUEST) connection.socket.end();
  else {
    connection.started = true;
    const name = /application_name\0[^\0]*?:(hot|background)\0/.exec(message.toString('latin1'))?.[1];
    connection.priority = name === 'hot' ? 0 : name === 'background' ? 2 : 1;
    enqueue(connection, message);
  }
}

/** @param {Connection} connection @param {Buffer} message */
function regular(connection, message) {
  const type = message[0] ?? 0;
  if (type === TERMINATE) {
    connection.socket.end();
    return;
  }
  connection.group.push(message);
  if (!GROUP_ENDS.has(type)) return;
  enqueue(connection, connection.group.length === 1 ? message : Buffer.concat(connection.group));
  connection.group = [];
}

/** @param {Connection} connection @param {Buffer} message */
function enqueue(connection, message) {
  waiting.push({ connection, message, since: performance.now() });
  if (!busy) {
    busy = true;
    setImmediate(() => void work());
  }
}

async function work() {
  // Whoever left in the middle of a transaction holds the session no longer.
  if (owner?.socket.destroyed) await rollBack();
  const group = next();
  if (group === undefined) {
    busy = false;
    return;
  }
  try {
    await run(group);
  } catch (error) {
    // The WASM module itself has failed: nothing after this could be trusted.
    parent.postMessage({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    return;
  }
  // Sockets are read between two groups, so that a hot statement can overtake.
  setImmediate(() => void work());
}

/** @returns {Group | undefined} */
function next() {
  let best = -1;
  const now = performance.now();
  for (const [index, { connection, since }] of waiting.entries()) {
    if (owner !== null && connection !== owner) continue;
    if (now - since > PATIENCE_MS) {
      best = index;
      break;
    }
    const least = waiting[best]?.connection.priority ?? Number.POSITIVE_INFINITY;
    if (connection.priority < least) best = index;
  }
  return best < 0 ? undefined : waiting.splice(best, 1)[0];
}

/** @param {Group} group */
async function run({ connection, message }) {
  // The last bytes sent tell whether the session is free again: ReadyForQuery, idle.
  let tail = Buffer.alloc(0);
  owner = connection;
  await database.runExclusive(() =>
    database.execProtocolRawStream(message, {
      onRawData: (data) => {
        // The memory behind `data` is used again.
        const bytes = Buffer.from(data);
        if (connection.socket.writable) connection.socket.write(bytes);
        tail = Buffer.concat([tail, bytes.subarray(-6)]).subarray(-6);
      },
    }),
  );
  const idle = tail.length === 6 && tail.subarray(0, 5).equals(READY) && tail[5] === 'I'.charCodeAt(0);
  if (idle) owner = null;
}

/** @param {Connection} connection */
function leave(connection) {
  connections.delete(connection);
  for (let i = waiting.length - 1; i >= 0; i -= 1) if (waiting[i]?.connection === connection) waiting.splice(i, 1);
  if (owner !== connection || busy) return;
  busy = true;
  void rollBack().then(work);
}

async function rollBack() {
  await database.exec('ROLLBACK');
  owner = null;
}
