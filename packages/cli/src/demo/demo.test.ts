import { parsePolicyText } from '@muster/core';
import { registration } from '@muster/worker';
import { describe, expect, test } from 'vitest';
import { demoCurl } from '../serve/greeting.ts';
import { demoWorkers } from './demo-fleet.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { answerFrom, keywordsOf, sentencesOf, summarise } from './text.ts';

const text =
  'Workers take runs. A worker sends heartbeats, and heartbeats keep a worker healthy. Nothing else matters here! Does it?';

describe('the text work', () => {
  test('sentences and keywords', () => {
    expect(sentencesOf(text)).toHaveLength(4);
    expect(keywordsOf(text, 2)).toEqual([
      { word: 'heartbeats', count: 2 },
      { word: 'worker', count: 2 },
    ]);
    expect(keywordsOf('', 5)).toEqual([]);
  });

  test('a summary has the heaviest sentences in the order of the text', () => {
    expect(summarise(text, 1)).toEqual(['A worker sends heartbeats, and heartbeats keep a worker healthy.']);
    expect(summarise(`Unrelated words first. ${text}`, 2)).toEqual([
      'A worker sends heartbeats, and heartbeats keep a worker healthy.',
      'Nothing else matters here!',
    ]);
    expect(summarise('', 2)).toEqual([]);
  });

  test('an answer is the sentence that shares most with the question', () => {
    expect(answerFrom(text, 'What keeps a worker healthy?')).toEqual({
      answer: 'A worker sends heartbeats, and heartbeats keep a worker healthy.',
      confidence: 0.67,
    });
    expect(answerFrom(text, 'bananas?')).toEqual({ answer: '', confidence: 0 });
  });

  test('long texts take time in proportion', () => {
    expect(summarise('word '.repeat(200_000), 1)).toHaveLength(1);
  });
});

describe('the demo', () => {
  test('its policies are legal', () => {
    const registered = demoWorkflows.map(registration);
    for (const { routing } of registered) expect(parsePolicyText(routing ?? '', 'ROUTING')).toMatchObject({ ok: true });
    const affinities = registered.flatMap(({ affinity }) => affinity ?? []);
    expect(affinities).toHaveLength(2);
    for (const affinity of affinities) expect(parsePolicyText(affinity, 'AFFINITY')).toMatchObject({ ok: true });
  });

  test('two roles in two regions', () => {
    expect(new Set(demoWorkers.map((worker) => `${worker.role} ${worker.labels['region']}`)).size).toBe(4);
  });

  test('the printed command survives a shell and carries a valid body', () => {
    const command = demoCurl('http://127.0.0.1:4000', '$(cat x)');
    const body = /-d '(.*)'$/.exec(command)?.[1] ?? '';
    expect(body).not.toContain("'");
    expect(JSON.parse(body)).toMatchObject({ variables: { input: { deployment: 'assistant', waitSeconds: 20 } } });
  });
});
