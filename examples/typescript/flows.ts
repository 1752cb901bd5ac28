// Run it:  muster worker start examples/typescript/flows.ts --role worker --label region=eu
import { input, label, least, load, prefer, score, workflow } from '@muster/worker';

/** Counts what a text is made of. Prefers workers in the region that the input names, then those with little to do. */
export const statistics = workflow<{ text: string; region?: string }, object>(
  {
    namespace: 'examples',
    name: 'statistics',
    description: 'Counts the characters, words and lines of a text.',
    routing: score(prefer(label('region').eq(input('region')), { weight: 10 }), least(load())),
  },
  (context, { text }) => {
    context.progress(0.5, 'counting');
    return {
      characters: [...text].length,
      words: text.split(/\s+/).filter(Boolean).length,
      lines: text.split('\n').length,
    };
  },
);

/** Waits; for trying out cancels, timeouts and killed workers. */
export const wait = workflow<{ seconds: number }, string>(
  { namespace: 'examples', name: 'wait', description: 'Waits for so many seconds.', timeoutSeconds: 600 },
  (context, { seconds }) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(`waited ${seconds} s`), seconds * 1_000);
      context.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(context.signal.reason as Error);
      });
    }),
);
