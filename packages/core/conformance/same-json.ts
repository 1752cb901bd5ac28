/** Whether two JSON values are the same: the order of keys means nothing, 10 equals 10.0. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map(Object.entries(a));
  const right = new Map(Object.entries(b));
  if (left.size !== right.size) return false;
  for (const [key, value] of left) {
    if (!right.has(key) || !sameJson(value, right.get(key))) return false;
  }
  return true;
}
