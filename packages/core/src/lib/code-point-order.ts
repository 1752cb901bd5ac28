/**
 * Order of names, keys and text everywhere in Muster: by code point, as PostgreSQL's `COLLATE "C"` orders UTF-8. JavaScript's
 * `<` orders UTF-16 code units, which puts U+FF5E after U+1F680; `localeCompare` depends on the machine.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rankOfUnit(left) - rankOfUnit(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other unit, so they sort last; the gap they leave is closed. */
function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
