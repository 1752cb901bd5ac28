import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe('readConfig', () => {
  it('does not let anybody believe that a bus over NATS is in use', () => {
    expect(problemsOf({ NATS_URL: 'nats://127.0.0.1:4222' })).toEqual([expect.stringContaining('NATS_URL')]);
  });

  it('has a default for everything; empty variables are absent', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      databaseUrl: null,
      role: 'api',
      staleSeconds: 30,
      offlineSeconds: 60,
      parkTtlSeconds: 0,
      retention: { executions: 100_000, days: 7 },
      mayLead: true,
    });
  });

  it('names a worker after role and host, in a cluster after the port too, and keeps everything in a cluster', () => {
    expect(readConfig({ SERVICE_ROLE: 'edge' }).workerName).toMatch(/^edge-[A-Za-z0-9]/);
    const cluster = readConfig({ DATABASE_URL: 'postgres://db/x', PORT: '4100' });
    expect(cluster.workerName).toMatch(/-4100$/);
    expect(cluster.retention).toEqual({ executions: null, days: null });
    expect(cluster.databaseDirectUrl).toBe('postgres://db/x');
  });

  it('tells every problem at once, and no value', () => {
    const problems = problemsOf({
      PORT: '70000',
      DATABASE_URL: 'mysql://user:secret@db',
      MUSTER_ADMIN_TOKEN: 'short',
      LOG_LEVEL: 'loud',
      MUSTER_STALE_SECONDS: '1.5',
      SERVICE_ROLE: '-x',
    });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'LOG_LEVEL',
      'MUSTER_ADMIN_TOKEN',
      'MUSTER_STALE_SECONDS',
      'PORT',
      'SERVICE_ROLE',
    ]);
    expect(problems.join()).not.toMatch(/secret|short|70000|loud/);
    expect(problemsOf({ MUSTER_STALE_SECONDS: '60', MUSTER_OFFLINE_SECONDS: '30' })).toHaveLength(1);
  });

  it('ends the process with 2 where it is wrong', async () => {
    const tsx = createRequire(import.meta.url).resolve('tsx');
    const child = spawn(process.execPath, ['--import', tsx, fileURLToPath(new URL('./main.ts', import.meta.url))], {
      env: { PATH: process.env['PATH'], PORT: 'x', LOG_LEVEL: 'x' },
    });
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(2);
    expect(errors).toContain('PORT must be');
    expect(errors).toContain('LOG_LEVEL must be');
  });
});
