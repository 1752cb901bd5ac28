import { describe, expect, test } from 'vitest';
import { workerFacts } from '../testing/worker-facts.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { compileRequests, meetsRequests, shortfalls } from './resource-requests.ts';

const GIB = 1024 ** 3;
const meets = (requests: unknown, facts: WorkerFacts): boolean => meetsRequests(compileRequests(requests), facts);
const worker = (more: object = {}, packages: [string, string][] = []): WorkerFacts =>
  workerFacts('w', {
    resources: { cpu_available: 4, memory_available: 4 * GIB, disk_free: 100, gpus: [], ...more },
    packages: packages.map(([name, version]) => ({ name, version })),
  });

describe('amounts (ruling 16)', () => {
  test.each([
    [{ cpu: 4 }, true],
    [{ cpu: 4.5 }, false],
    [{ memory: '4Gi' }, true],
    [{ memory: '4G' }, true],
    [{ memory: '4.0 Gi' }, true],
    [{ memory: 4 * GIB + 1 }, false],
    [{ memory: String(4 * GIB) }, true],
    [{ disk: 100 }, true],
    [{ disk: 101 }, false],
    [{ cpu: null, gpu: null }, true],
    [{}, true],
  ])('%j is %j', (requests, expected) => {
    expect(meets(requests, worker())).toBe(expected);
  });

  test('without known resources nothing is met, not even an empty request; without a request anything is', () => {
    expect(meets({}, workerFacts('bare'))).toBe(false);
    expect(meets({ gpu: 0 }, workerFacts('bare'))).toBe(false);
    expect(meets(null, workerFacts('bare'))).toBe(true);
    expect(meets(undefined, workerFacts('bare'))).toBe(true);
  });

  test('a GPU counts if some of its memory is free; none are needed for gpu: 0', () => {
    const gpus = [{ name: 'A100', memory_available: 1 }, { name: 'L4', memory_available: 0 }, { name: 'L4' }];
    expect(meets({ gpu: 1 }, worker({ gpus }))).toBe(true);
    expect(meets({ gpu: 2 }, worker({ gpus }))).toBe(false);
    expect(meets({ gpu: 0 }, worker())).toBe(true);
    expect(meets({ gpu: 0 }, worker({ gpus: null }))).toBe(true);
  });

  test.each([
    { memory: '4GB' },
    { memory: 'lots' },
    { cpu: -1 },
    { cpu: '4' },
    { packages: ['numpy~=1'] },
    { packages: 5 },
    'cpu=4',
    [],
  ])('stored requests that cannot be read match nobody: %j', (requests) => {
    expect(meets(requests, worker())).toBe(false);
    expect(shortfalls(compileRequests(requests), worker())[0]?.wanted).toBe('readable requests');
  });
});

describe('packages', () => {
  test.each<[string, [string, string][], boolean]>([
    ['numpy', [['NumPy', '1.0']], true],
    ['numpy==1.0', [['numpy', '1.0.0']], false],
    ['numpy == 1.0', [['numpy', '1.0']], true],
    ['numpy>=1.20.0', [['numpy', '1.9.9']], false],
    ['numpy>=1.0.0.1', [['numpy', '1.0.0']], false],
    ['numpy>=1.0', [['numpy', '1']], true],
    ['numpy>=1.26.0', [['numpy', '1.26.0rc1']], true],
    ['numpy>=1.0.0-alpha', [['numpy', '1.0.0-beta']], true],
    ['numpy>=9', [['numpy', '10']], true],
    [
      'numpy>=2.0',
      [
        ['numpy', '1.0'],
        ['NumPy', '2.0'],
      ],
      true,
    ],
    ['scikit_learn', [['scikit-learn', '1.0']], false],
    ['torch', [], false],
  ])('%s in %j is %j', (wanted, installed, expected) => {
    expect(meets({ packages: [wanted] }, worker({}, installed))).toBe(expected);
  });
});

test('shortfalls name everything that is lacking, with what there is', () => {
  const requests = compileRequests({ cpu: 8, memory: '8Gi', gpu: 1, packages: ['torch>=2'] });
  expect(shortfalls(requests, worker({ memory_available: null }, [['torch', '1.9']]))).toEqual([
    { wanted: 'cpu 8', had: '4' },
    { wanted: 'memory 8 Gi', had: 'unknown' },
    { wanted: 'gpu 1', had: '0' },
    { wanted: 'package torch>=2', had: '1.9' },
  ]);
  expect(shortfalls(compileRequests({ cpu: 1 }), worker())).toEqual([]);
});
