import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { build } from 'vite';
import { root } from '../support/server.ts';

declare global {
  function answerVector(kind: 'scoring', vector: { id: string }): { ok: boolean; reason: string | null };
}

/** packages/core and its dependencies as one script for a browser: no Node, no modules. */
async function browserBuild(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      lib: { entry: path.join(root, 'e2e/support/scoring-entry.ts'), formats: ['iife'], name: 'scoringEntry' },
    },
  });
  const [bundle] = Array.isArray(result) ? result : [result];
  if (!bundle || !('output' in bundle)) throw new Error('vite has built nothing');
  return bundle.output[0].code;
}

test('the browser build of core answers every scoring vector', async ({ page }) => {
  const file = path.join(root, 'packages/core/conformance/vectors/scoring.jsonl');
  const vectors: { id: string }[] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  expect(vectors.length).toBeGreaterThanOrEqual(1500);

  await page.addScriptTag({ content: await browserBuild() });
  const wrong = await page.evaluate(
    (all) =>
      all.flatMap((vector) => {
        const { ok, reason } = answerVector('scoring', vector);
        return ok ? [] : [`${vector.id}: ${reason}`];
      }),
    vectors,
  );
  expect(wrong).toEqual([]);
});
