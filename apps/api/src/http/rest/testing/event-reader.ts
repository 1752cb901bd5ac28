import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: EventData;
}

/** What the text of every event has. */
interface EventData {
  readonly executionId: string;
  readonly sequence: number;
  /** In the last one of an execution only. */
  readonly execution?: unknown;
}

/** One stream of server-sent events, read as it comes. */
export interface EventReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: readonly ReceivedEvent[];
  /** Everything that came, comments too. */
  readonly text: () => string;
  /** true: the server ended it. false: it broke off, or we left. */
  readonly ended: Promise<boolean>;
  /** Goes away without a word. */
  leave(): void;
}

/** Opens a stream; resolves with its head. */
export function readEvents(
  app: { url: string; adminToken: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<EventReader> {
  const { hostname, port } = new URL(app.url);
  const headers = { authorization: `Bearer ${app.adminToken}`, ...options.headers };
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, path, method, headers, agent: false }, (response) =>
      resolve(reader(call, response)),
    );
    call.on('error', reject);
    call.end(options.body);
  });
}

function reader(call: ClientRequest, response: IncomingMessage): EventReader {
  const events: ReceivedEvent[] = [];
  let text = '';
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string): string | undefined =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const type = field('event');
      if (type !== undefined)
        events.push({ id: field('id') ?? '', type, data: JSON.parse(field('data') || 'null') as EventData });
    }
  });
  const ended = new Promise<boolean>((resolve) => {
    response.on('end', () => resolve(response.complete));
    response.on('error', () => resolve(false));
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    text: () => text,
    ended,
    leave: () => void call.destroy(),
  };
}
