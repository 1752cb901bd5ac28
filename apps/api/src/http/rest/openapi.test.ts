import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { openApiText, routes } from './routes.ts';

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; schema: object; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

const document = JSON.parse(openApiText) as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: object;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

/** What is wrong with a value, or null. */
function problem(schema: object, value: unknown): string | null {
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')));
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(JSON.parse(openApiText));
    expect(result).toEqual({ valid: true });
    expect(document.openapi).toBe('3.1.0');
  });

  it('is held against a validator that sees what is wrong', async () => {
    const broken = JSON.parse(openApiText);
    broken.paths['/workers'].get.responses = 'none';
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('has every route of the table, and no other', () => {
    const expected = [
      ...['async', 'sync', 'stream'].flatMap((mode) => [
        `POST /workflows/{ns}/{name}/run/${mode}`,
        `POST /deployments/{slug}/run/${mode}`,
      ]),
      'GET /executions/{id}',
      'GET /executions/{id}/events',
      'POST /executions/{id}/cancel',
      'POST /executions/{id}/resume',
      'GET /workers',
      'GET /workers/{name}',
      'GET /admin/workers',
      'GET /admin/audit.jsonl',
      'GET /admin/audit.csv',
      ...['GET', 'PUT', 'DELETE'].flatMap((method) => [
        `${method} /admin/workers/{name}/metadata`,
        `${method} /admin/workers/{name}/metadata/{key}`,
      ]),
    ].toSorted();
    expect(operations.map(({ name }) => name).toSorted()).toEqual(expected);
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(expected);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(expected.length);
  });

  it('is told in the documentation, route by route', () => {
    const page = readFileSync(new URL('../../../../../docs/rest-api.md', import.meta.url), 'utf8');
    const told = [...page.matchAll(/^\| `([A-Z]+ \/[^`]*)` \|/gm)].map(([, name]) => name);
    expect(told.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  });

  it.each(operations)('$name names the parameters of its path', ({ path, operation }) => {
    const named = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  });

  it.each(operations)('$name has examples that fit their schemas, and its errors', ({ operation }) => {
    for (const { schema, example } of operation.parameters) {
      if (example !== undefined) expect(problem(schema, example)).toBeNull();
    }
    const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    expect(media.length).toBeGreaterThan(3);
    for (const { schema, example, examples } of media) {
      const shown = examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
      for (const value of shown) expect(problem(schema, value)).toBeNull();
    }
    for (const status of ['401', '403', '500', '503']) expect(operation.responses).toHaveProperty(status);
  });
});
