import {
  input,
  label,
  labelFor,
  least,
  load,
  metric,
  most,
  optional,
  prefer,
  require,
  score,
  sticky,
  utilization,
  type Workflow,
  when,
  workflow,
} from '@muster/worker';
import { answerFrom, keywordsOf, sentencesOf, summarise } from './text.ts';

/** What the demo's workflows take; every field but the text may be left out. */
interface TextInput {
  readonly text: string;
  readonly question?: string;
  readonly sentences?: number;
  readonly region?: string;
  readonly model?: string;
  readonly gpu?: string;
}

const summariseText = workflow<TextInput, unknown>(
  {
    namespace: 'demo',
    name: 'summarise',
    description: 'The most telling sentences of a text.',
    // As text: a worker in the region of the input, then one with little to do.
    routing:
      'score(prefer(label("region") == input("region"), weight=4), least(load(), weight=2), least(metric("flux.cpu_percent")))',
    requests: 'ResourceRequest(memory="32Mi")',
    timeoutSeconds: 60,
  },
  (context, given) => {
    const text = textOf(given);
    const all = sentencesOf(text).length;
    context.progress(0.5, `read ${all} sentences`);
    const summary = summarise(text, given.sentences ?? 2);
    return { summary: summary.join(' '), sentences: { of: all, kept: summary.length } };
  },
);

const keywords = workflow<TextInput, unknown>(
  {
    namespace: 'demo',
    name: 'keywords',
    description: 'The most frequent words of a text.',
    // The same language as a builder: only in the region that the input names, where it names one.
    routing: score(least(utilization(), { weight: 2 }), most(metric('flux.memory_available_bytes'))),
    affinity: require(optional(label('region').eq(input('region')))),
    timeoutSeconds: 60,
  },
  (_, given) => ({ keywords: keywordsOf(textOf(given), 10) }),
);

const chat = workflow<TextInput, unknown>(
  {
    namespace: 'demo',
    name: 'chat',
    description: 'Answers a question from a text, on a worker that has the model warm.',
    routing: score(
      prefer(labelFor('model.', input('model')).eq('warm'), { weight: 8 }),
      when(input('region').ne(null), prefer(label('region').eq(input('region')), { weight: 4 })),
      sticky({ weight: 2 }),
      least(load()),
    ),
    affinity: require(optional(label('gpu').eq(input('gpu')))),
    timeoutSeconds: 60,
  },
  (context, given) => {
    const text = textOf(given);
    const question =
      given.question ??
      keywordsOf(text, 3)
        .map(({ word }) => word)
        .join(' ');
    context.log('searching', { sentences: sentencesOf(text).length });
    const found = answerFrom(text, question);
    context.progress(1);
    return { question, ...found, summary: summarise(text, given.sentences ?? 1).join(' ') };
  },
);

/** Everything that the demo's workers run. */
export const demoWorkflows: readonly Workflow[] = [summariseText, keywords, chat];

function textOf(given: TextInput | null): string {
  if (typeof given?.text !== 'string' || given.text.trim() === '') throw new TypeError('The input needs a "text".');
  return given.text;
}
