import { expect, it } from 'vitest';
import { createLog } from './log.ts';

const SECRET = 'hush-hush-4711';

it('hides secrets, wherever somebody puts them by mistake', () => {
  const lines: string[] = [];
  const log = createLog('trace', { write: (line: string) => void lines.push(line) });
  for (const key of [
    'authorization',
    'cookie',
    'set-cookie',
    'password',
    'token',
    'secret',
    'credential',
    'routingInput',
    'variables',
    'input',
  ]) {
    log.info({ [key]: SECRET, name: 'shown' }, 'at the top');
    log.warn({ request: { [key]: { inside: SECRET } } }, 'inside');
    log.error({ request: { headers: { [key]: [SECRET] } } }, 'deeper');
    log.child({ [key]: SECRET }).info('of a child');
  }
  expect(lines).toHaveLength(40);
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
  expect(lines.filter((line) => line.includes('[hidden]'))).toHaveLength(40);
  expect(lines[0]).toContain('"name":"shown"');
});

it('reduces errors to what no driver fills with values, and keeps to one line', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const error = Object.assign(new Error('broken\n{"level":"info","msg":"forged"}'), {
    detail: SECRET,
    parameters: [SECRET],
    code: '23505',
  });
  log.error({ err: error }, 'failed\r\nforged');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toMatch(/[\r\n]/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'failed\r\nforged', err: { code: '23505' } });
  expect(lines[0]).not.toContain(SECRET);
});
