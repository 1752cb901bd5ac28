import { Fragment, type ReactNode } from 'react';

const TOKEN = /("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([A-Za-z_][A-Za-z0-9_]*)(?=\s*\()|(\b\d[\d_]*(?:\.\d+)?\b)/g;

/** Expression text (routing policy, affinity) with its functions, strings and numbers told apart. */
export function PolicyText({ text, label }: { text: string; label: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="code" tabIndex={0} aria-label={label} role="region">
      {colour(text)}
    </pre>
  );
}

function colour(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    const kind = match[1] ? 's' : match[2] ? 'k' : 'n';
    parts.push(
      <Fragment key={match.index}>
        <span className={kind}>{match[0]}</span>
      </Fragment>,
    );
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/** Breaks a one-line `score(…)` or `require(…)` into one argument a line; text that has lines already stays as it is. */
export function breakArguments(text: string): string {
  const trimmed = text.trim();
  const head = /^(score|require)\(/.exec(trimmed);
  if (!head || trimmed.includes('\n') || !trimmed.endsWith(')') || trimmed.length < 60) return trimmed;
  const inner = trimmed.slice(head[0].length, -1);
  const args: string[] = [];
  let depth = 0;
  let quote: string | null = null;
  let start = 0;
  for (let i = 0; i < inner.length; i += 1) {
    const char = inner[i];
    if (quote) {
      if (char === '\\') i += 1;
      else if (char === quote) quote = null;
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '(' || char === '[' || char === '{') depth += 1;
    else if (char === ')' || char === ']' || char === '}') depth -= 1;
    else if (char === ',' && depth === 0) {
      args.push(inner.slice(start, i).trim());
      start = i + 1;
    }
  }
  args.push(inner.slice(start).trim());
  return `${head[0]}\n${args
    .filter((arg) => arg !== '')
    .map((arg) => `  ${arg},`)
    .join('\n')}\n)`;
}
