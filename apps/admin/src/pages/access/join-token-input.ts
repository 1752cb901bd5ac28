/** `key=value` for each label; what has no key or no value is a problem. */
export function readLabels(texts: readonly string[]): {
  labels: { key: string; value: string }[];
  problem: string | null;
} {
  const labels: { key: string; value: string }[] = [];
  for (const text of texts) {
    const cut = text.indexOf('=');
    if (cut < 1) return { labels, problem: `“${text}” is not of the form key=value.` };
    labels.push({ key: text.slice(0, cut).trim(), value: text.slice(cut + 1).trim() });
  }
  return { labels, problem: null };
}
