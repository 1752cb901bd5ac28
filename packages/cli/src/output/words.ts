/** How long ago, in the largest unit that says enough: `3 s`, `5 min`, `2 h`, `4 d`. */
export function ago(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1_000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A number short enough for a cell: at most 4 significant digits, no exponent below a billion. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  if (Math.abs(value) >= 1e9 || (value !== 0 && Math.abs(value) < 0.001)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/** A JSON value in a cell: texts as they are, everything else as JSON, cut to `limit` characters. */
export function shortValue(value: unknown, limit = 24): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') return shortNumber(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** Bytes in binary units with one decimal: `512 MiB`, `15.5 GiB`. */
export function bytes(value: number | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let amount = value;
  let unit = 0;
  while (amount >= 1_024 && unit < units.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  return `${Number(amount.toFixed(1))} ${units[unit]}`;
}

/** A share 0..1 as whole percent: `10 %`. */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? '–' : `${Math.round(share * 100)} %`;
}

/** `3 of 4`, or just the load where there is no limit. */
export function loadOf(load: number, capacity: number | null): string {
  return capacity === null ? String(load) : `${load} of ${capacity}`;
}

/** Pretty JSON. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
