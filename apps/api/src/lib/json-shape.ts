/** How deep a JSON text nests, and how many values it holds. */
export interface JsonShape {
  readonly depth: number;
  readonly values: number;
}

/**
 * Counts in one pass over the text, without building anything; so that what would fill the memory is known before it is parsed. Of a text that is no JSON the
 * answer is an upper bound of what a parser could have built until it gave up.
 */
export function jsonShape(text: string): JsonShape {
  let open = 0;
  let depth = 0;
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        open++;
        values++;
        if (open > depth) depth = open;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open--;
        break;
      case 0x2c: // ,
        values++;
        break;
      default:
    }
  }
  return { depth, values };
}

/** The index of the quote that ends the string which begins at `start`, else the end of the text. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i;
    if (code === 0x5c) i++;
  }
  return text.length;
}
