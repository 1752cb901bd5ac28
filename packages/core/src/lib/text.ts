/** Length of a text as UTF-8, in bytes; a lone surrogate counts as three. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Whether the text has half of a surrogate pair, which no UTF-8 text can carry. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}

/** The text, shortened to at most `limit` UTF-16 units for a message. */
export function shorten(text: string, limit = 40): string {
  if (text.length <= limit) return text;
  const end = isLowSurrogate(text.charCodeAt(limit - 1)) ? limit - 2 : limit - 1;
  return `${text.slice(0, end)}…`;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
