/** Whether a request may carry routing input, by its text: a name that is spelled with escapes counts too. */
export function mayCarryRoutingInput(text: string): boolean {
  return /routinginput|\\u00[4-7]/i.test(text);
}

/**
 * Whether a key stands twice in one object of a JSON text. `JSON.parse` keeps the last and tells nothing. One pass; the text must be valid JSON: of others the
 * answer means nothing.
 */
export function repeatsKey(text: string): boolean {
  /** The keys of each open object; null: an array. */
  const open: (Set<string> | null)[] = [];
  let atKey = false;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '{':
        open.push(new Set());
        atKey = true;
        break;
      case '[':
        open.push(null);
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        atKey = open.at(-1) instanceof Set;
        break;
      case '"': {
        const end = endOfString(text, i);
        if (atKey && isRepeated(open.at(-1) ?? null, text.slice(i, end + 1))) return true;
        atKey = false;
        i = end;
        break;
      }
      default:
    }
  }
  return false;
}

function isRepeated(keys: Set<string> | null, literal: string): boolean {
  const key = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  if (keys?.has(key)) return true;
  keys?.add(key);
  return false;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
