import { shorten } from '../lib/text.ts';
import type { PolicyStage } from './spec.ts';
import { SERVICE_PREFIX, isComparisonOperator, isRecord, isServiceName, own } from './values.ts';

const MAX_LINE = 100;
const INDENT = '    ';
const REQUEST_FIELDS = ['cpu', 'memory', 'disk', 'gpu', 'packages'];

/**
 * Canonical text of a compiled policy, affinity or resource request: compiling it gives the same spec again. One line where
 * it fits into 100 characters, else one term a line. A stored spec that is malformed after all is shown as far as it can be
 * read; never throws.
 */
export function formatPolicy(spec: unknown, stage: PolicyStage): string {
  if (stage === 'ROUTING') {
    const terms = isRecord(spec) ? own(spec, 'terms') : undefined;
    return Array.isArray(terms) ? formatCall('score', terms.map(formatWeightedTerm)) : formatUnknown(spec);
  }
  if (stage === 'AFFINITY' && Array.isArray(spec)) return formatCall('require', spec.map(formatTerm));
  if (!isRecord(spec)) return formatUnknown(spec);
  return stage === 'AFFINITY' ? formatLabelMap(spec) : formatRequests(spec);
}

/**
 * Text of one term of a policy or an affinity without its weight, e.g. `prefer(label("region") == input("region"))`. A
 * malformed term is shown as its JSON, shortened; never throws.
 */
export function formatTerm(term: unknown): string {
  return readableTerm(term, '') ?? formatUnknown(term);
}

function formatWeightedTerm(term: unknown): string {
  const inner = isRecord(term) && own(term, 'kind') === 'when' ? own(term, 'then') : term;
  const weight = isRecord(inner) ? own(inner, 'weight') : undefined;
  const written = typeof weight === 'number' && weight !== 1 ? `weight=${formatNumber(weight)}` : '';
  return readableTerm(term, written) ?? formatUnknown(term);
}

/** null where the term cannot be read. `weight` is the text of the argument, empty for none. */
function readableTerm(term: unknown, weight: string): string | null {
  if (!isRecord(term)) return null;
  if (own(term, 'kind') !== 'when') return readablePlainTerm(term, weight);
  const condition = readableCondition(own(term, 'if'));
  const inner = own(term, 'then');
  const text = isRecord(inner) ? readablePlainTerm(inner, weight) : null;
  return condition === null || text === null ? null : `when(${condition}, ${text})`;
}

function readablePlainTerm(term: Record<string, unknown>, weight: string): string | null {
  const kind = own(term, 'kind');
  const withWeight = weight === '' ? '' : `, ${weight}`;
  if (kind === 'sticky') return `sticky(${weight})`;
  if (kind === 'least' || kind === 'most') {
    const selector = readableSelector(own(term, 'selector'));
    return selector === null ? null : `${kind}(${selector}${withWeight})`;
  }
  if (kind !== 'prefer' && kind !== 'match') return null;
  const comparison = readableService(term) ?? readableComparison(term);
  if (comparison === null) return null;
  if (kind === 'prefer') return `prefer(${comparison}${withWeight})`;
  return own(term, 'optional') === true ? `optional(${comparison})` : comparison;
}

function readableComparison(term: Record<string, unknown>): string | null {
  const selector = readableSelector(own(term, 'selector'));
  const op = own(term, 'op');
  const raw = own(term, 'value');
  const value = readableReference(raw, '$input', '$routing_input') ?? readableConstant(raw);
  if (selector === null || value === null || !isComparisonOperator(op)) return null;
  return `${selector} ${op} ${value}`;
}

function readableCondition(condition: unknown): string | null {
  if (!isRecord(condition)) return null;
  const op = own(condition, 'op');
  const raw = own(condition, 'value');
  const subject =
    readableReference(condition, 'input', 'routing_input') ?? readableSelector(own(condition, 'selector'));
  const value = raw === null ? 'None' : readableConstant(raw);
  return subject === null || value === null || !isComparisonOperator(op) ? null : `${subject} ${op} ${value}`;
}

/** `service(...)` where the term says just that. */
function readableService(term: Record<string, unknown>): string | null {
  if (own(term, 'op') !== '==' || own(term, 'value') !== 'true') return null;
  const selector = own(term, 'selector');
  const start = `label:${SERVICE_PREFIX}`;
  if (typeof selector === 'string' && selector.startsWith(start)) {
    const name = selector.slice(start.length);
    return isServiceName(name) ? `service(${formatText(name)})` : null;
  }
  if (!isRecord(selector) || own(selector, 'kind') !== 'label' || own(selector, 'prefix') !== SERVICE_PREFIX)
    return null;
  const reference = readableReference(selector, 'input', 'routing_input');
  return reference === null ? null : `service(${reference})`;
}

function readableSelector(selector: unknown): string | null {
  if (selector === 'load' || selector === 'utilization') return `${selector}()`;
  if (typeof selector === 'string') {
    const colon = selector.indexOf(':');
    const kind = selector.slice(0, Math.max(colon, 0));
    if (!['label', 'metric', 'meta', 'resource'].includes(kind)) return null;
    return `${kind}(${formatText(selector.slice(colon + 1))})`;
  }
  if (!isRecord(selector)) return null;
  const kind = own(selector, 'kind');
  const prefix = own(selector, 'prefix');
  const reference = readableReference(selector, 'input', 'routing_input');
  if ((kind !== 'label' && kind !== 'meta') || typeof prefix !== 'string' || reference === null) return null;
  return `${kind}_for(${formatText(prefix)}, ${reference})`;
}

/** The first of the two keys that is there counts, as in the evaluation. */
function readableReference(value: unknown, inputKey: string, routingKey: string): string | null {
  if (!isRecord(value)) return null;
  const path = own(value, inputKey);
  if (path !== undefined) return typeof path === 'string' ? `input(${formatText(path)})` : null;
  const routingPath = own(value, routingKey);
  return typeof routingPath === 'string' ? `routing_input(${formatText(routingPath)})` : null;
}

function readableConstant(value: unknown): string | null {
  if (typeof value === 'string') return formatText(value);
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return null;
}

function formatLabelMap(map: Record<string, unknown>): string {
  const entries = Object.entries(map).map(
    ([label, value]) => `${formatText(label)}: ${readableConstant(value) ?? formatUnknown(value)}`,
  );
  return formatBrackets('{', entries, '}');
}

function formatRequests(spec: Record<string, unknown>): string {
  const fields: string[] = [];
  for (const field of REQUEST_FIELDS) {
    const value = own(spec, field);
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value)
      ? `[${value.map((item) => readableConstant(item) ?? formatUnknown(item)).join(', ')}]`
      : (readableConstant(value) ?? formatUnknown(value));
    fields.push(`${field}=${text}`);
  }
  return formatCall('ResourceRequest', fields);
}

function formatCall(name: string, items: readonly string[]): string {
  return formatBrackets(`${name}(`, items, ')');
}

function formatBrackets(open: string, items: readonly string[], close: string): string {
  const oneLine = `${open}${items.join(', ')}${close}`;
  if (oneLine.length <= MAX_LINE || items.length === 0) return oneLine;
  return `${open}\n${items.map((item) => `${INDENT}${item},\n`).join('')}${close}`;
}

/** A double-quoted literal; characters that do not show, or turn the writing direction, are escaped. */
function formatText(text: string): string {
  const escaped = text.replace(
    /["\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => SHORT_ESCAPES[character] ?? escapeOf(character.codePointAt(0) ?? 0),
  );
  return `"${escaped}"`;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function escapeOf(codePoint: number): string {
  const digits = codePoint.toString(16);
  if (codePoint <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return codePoint <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** JavaScript's spelling of a double is a Python literal as well, and reads back as the same double. */
function formatNumber(value: number): string {
  return String(value);
}

/** What cannot be read as a part of a policy: its JSON, shortened. */
function formatUnknown(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    json = undefined;
  }
  return `malformed ${shorten(json ?? typeof value, 200)}`;
}
