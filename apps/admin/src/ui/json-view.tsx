import { Fragment, type ReactNode } from 'react';

/** A JSON value as indented, coloured text. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="code" tabIndex={0} aria-label={label} role="region">
      {colour(JSON.stringify(value, null, 2) ?? 'null')}
    </pre>
  );
}

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],])/g;

function colour(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    const [whole, string, colon, scalar] = match;
    const kind = string ? (colon ? 'k' : 's') : scalar ? 'n' : 'm';
    parts.push(
      <Fragment key={match.index}>
        <span className={kind}>{string ?? whole}</span>
        {colon}
      </Fragment>,
    );
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts;
}
