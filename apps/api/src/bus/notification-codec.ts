import type { BusMessages, BusTopic } from './bus.ts';

/** One message as it waits to be sent. */
export type Envelope = { [K in BusTopic]: readonly [topic: K, message: BusMessages[K]] }[BusTopic];

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
export const MAX_PAYLOAD_BYTES = 7_000;

const encoder = new TextEncoder();

/** Splits what carries a list, so that no single message is larger than a payload. Items are a few dozen bytes each. */
function split([topic, message]: Envelope): Envelope[] {
  if (topic !== 'assigned' && topic !== 'cancel' && topic !== 'live') return [[topic, message] as Envelope];
  const perMessage = 25;
  const parts: Envelope[] = [];
  for (let i = 0; i < message.items.length; i += perMessage) {
    parts.push([topic, { ...message, items: message.items.slice(i, i + perMessage) }] as Envelope);
  }
  return parts;
}

/**
 * Packs messages into payloads of at most MAX_PAYLOAD_BYTES of JSON `[origin, [topic, message], …]`, in order. A message
 * that is too large all the same becomes a `resync`: receivers then read the tables.
 */
export function encodePayloads(origin: string, envelopes: readonly Envelope[]): string[] {
  const payloads: string[] = [];
  const head = `[${JSON.stringify(origin)}`;
  let body = head;
  let bytes = head.length + 1;
  const flush = (): void => {
    if (body !== head) payloads.push(`${body}]`);
    body = head;
    bytes = head.length + 1;
  };
  for (const envelope of envelopes.flatMap(split)) {
    let text = JSON.stringify(envelope);
    let size = encoder.encode(text).length + 1;
    if (size + head.length + 1 > MAX_PAYLOAD_BYTES) {
      text = '["resync",{}]';
      size = text.length + 1;
    }
    if (bytes + size > MAX_PAYLOAD_BYTES) flush();
    body += `,${text}`;
    bytes += size;
  }
  flush();
  return payloads;
}

/** The envelopes of a payload and who sent it; null where it is not one of ours. */
export function decodePayload(payload: string): { origin: string; envelopes: Envelope[] } | null {
  try {
    const [origin, ...envelopes] = JSON.parse(payload) as [string, ...Envelope[]];
    return typeof origin === 'string' ? { origin, envelopes } : null;
  } catch {
    return null;
  }
}
