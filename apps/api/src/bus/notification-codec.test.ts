import { describe, expect, it } from 'vitest';
import { decodePayload, type Envelope, encodePayloads, MAX_PAYLOAD_BYTES } from './notification-codec.ts';

const size = (text: string) => Buffer.byteLength(text);

describe('encodePayloads', () => {
  it('keeps order and says who sent it', () => {
    const envelopes: Envelope[] = [
      ['wake', { reason: 'a' }],
      ['worker', { name: 'Ωμέγα' }],
    ];
    const payloads = encodePayloads('api-1', envelopes);
    expect(payloads).toHaveLength(1);
    expect(decodePayload(payloads[0] ?? '')).toEqual({ origin: 'api-1', envelopes });
  });

  it('never makes a payload that PostgreSQL would refuse, and loses no item of a long list', () => {
    const items = Array.from({ length: 1_000 }, (_, i) => ({
      id: i.toString(16).padStart(32, '0'),
      workerId: i,
      generation: 1,
    }));
    const payloads = encodePayloads('api-1', [['live', { items }]]);
    expect(Math.max(...payloads.map(size))).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
    const received = payloads.flatMap((payload) => decodePayload(payload)?.envelopes ?? []);
    expect(received.flatMap(([topic, message]) => (topic === 'live' ? message.items : []))).toEqual(items);
  });

  it('asks for a rescan in place of a message that is too large', () => {
    const payloads = encodePayloads('api-1', [['wake', { reason: 'x'.repeat(MAX_PAYLOAD_BYTES) }]]);
    expect(payloads.map((payload) => decodePayload(payload)?.envelopes)).toEqual([[['resync', {}]]]);
  });
});

describe('decodePayload', () => {
  it('ignores what is not ours', () => {
    expect(decodePayload('hello')).toBeNull();
    expect(decodePayload('[1]')).toBeNull();
  });
});
