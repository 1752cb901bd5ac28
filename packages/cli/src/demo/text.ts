/** The text work of the demo: plain word statistics, no model. Deterministic. */

const stopWords = new Set(
  (
    'a about after all also an and any are as at be because been before but by can could did do does for from had has have he her his how i if in ' +
    'into is it its just like may more most much my no not now of on one only or other our out over same she should so some such than that the ' +
    'their them then there these they this those to too under up us very was we were what when where which while who why will with would you your'
  ).split(' '),
);

export interface Keyword {
  readonly word: string;
  readonly count: number;
}

export interface Answer {
  readonly answer: string;
  /** Share of the question's words that the answer has, 0..1. */
  readonly confidence: number;
}

/** The sentences of a text, trimmed, in order. */
export function sentencesOf(text: string): string[] {
  return (text.match(/[^.!?\n]+[.!?]*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** The most frequent words that carry meaning, most frequent first, ties in alphabetical order. */
export function keywordsOf(text: string, limit: number): Keyword[] {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .map(([word, count]) => ({ word, count }))
    .toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, limit);
}

/** The `limit` sentences whose words are the text's most frequent ones, in the order of the text. */
export function summarise(text: string, limit: number): string[] {
  const weights = new Map(keywordsOf(text, Number.POSITIVE_INFINITY).map(({ word, count }) => [word, count]));
  const scored = sentencesOf(text).map((sentence, index) => {
    const words = wordsOf(sentence);
    const sum = words.reduce((total, word) => total + (weights.get(word) ?? 0), 0);
    return { sentence, index, score: words.length === 0 ? 0 : sum / Math.sqrt(words.length) };
  });
  return scored
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .toSorted((a, b) => a.index - b.index)
    .map(({ sentence }) => sentence);
}

/** The sentence of the text that shares most with the question; confidence 0 where none shares anything. */
export function answerFrom(text: string, question: string): Answer {
  const asked = new Set(wordsOf(question));
  let best: Answer = { answer: '', confidence: 0 };
  for (const sentence of sentencesOf(text)) {
    const words = new Set(wordsOf(sentence));
    const shared = [...asked].filter((word) => words.has(word)).length;
    const confidence = asked.size === 0 ? 0 : Math.round((shared / asked.size) * 100) / 100;
    if (confidence > best.confidence) best = { answer: sentence, confidence };
  }
  return best;
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? []).filter(
    (word) => word.length > 2 && !stopWords.has(word),
  );
}
