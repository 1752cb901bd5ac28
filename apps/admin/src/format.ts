const whole = new Intl.NumberFormat('en-US');

export function count(value: number): string {
  return whole.format(value);
}

/** A count that may be a lower bound: "10,000+". */
export function countAtLeast(value: number, exact: boolean): string {
  return whole.format(value) + (exact ? '' : '+');
}

/** "1 worker", "3 workers". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}

/** A score or contribution: two digits, as it stands in every table. */
export function score(value: number): string {
  return fixed(value, 2);
}

function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace('-', '−');
}

/** 0.0914 → "9.1 %"; whole numbers without a digit. */
export function percent(share: number): string {
  const value = Math.round(share * 1000) / 10;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} %`;
}

/** A metric: whole from 1,000, at most four significant digits below; never an exponent. */
export function metricValue(value: number): string {
  if (Number.isInteger(value)) return whole.format(value);
  if (Math.abs(value) >= 1_000) return whole.format(Math.round(value));
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 }).format(value);
}

/** A metric whose key names its unit (`…_bytes`, `…_seconds`) in that unit; any other as a number. */
export function metricText(key: string, value: number): string {
  if (key.endsWith('_bytes')) return bytes(value);
  if (key.endsWith('_seconds'))
    return value < 1 ? `${metricValue(Math.round(value * 100_000) / 100)} ms` : `${metricValue(value)} s`;
  if (key.endsWith('_percent')) return `${metricValue(value)} %`;
  return metricValue(value);
}

/** "42 ms", "3.2 s", "6 m 12 s", "2 h 5 m", "3 d 4 h". */
export function duration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Microseconds of a decision: "640 µs", "0.9 ms". */
export function decisionTime(us: number): string {
  return Math.round(us) < 1_000 ? `${Math.round(us)} µs` : `${(us / 1_000).toFixed(1)} ms`;
}

/** An age in one unit, for tables: "2 s", "4 m", "3 h", "11 d". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** "14:02:07" or, with milliseconds, "14:02:07.120"; local time. */
export function clock(at: string | number, withMs = false): string {
  const date = new Date(at);
  const base = [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
  return withMs ? `${base}.${String(date.getMilliseconds()).padStart(3, '0')}` : base;
}

/** The full moment for a title: local and UTC to the millisecond. */
export function moment(at: string): string {
  const date = new Date(at);
  return `${date.toLocaleDateString('en-CA')} ${clock(at, true)} local · ${date.toISOString()}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** 1536 → "1.5 KiB". */
export function bytes(value: number): string {
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size >= 100 || Number.isInteger(size) ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** The first characters of an id, enough to tell rows apart. */
export function shortId(id: string): string {
  const [kind = '', raw = ''] = id.split('_', 2);
  return raw.length > 16 ? `${kind}_${raw.slice(0, 8)}…${raw.slice(-6)}` : id;
}
