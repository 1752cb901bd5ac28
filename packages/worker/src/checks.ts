import type { HealthCheckInput } from '@muster/client';

/** `message` says what is wrong, or what was found. */
export interface CheckResult {
  readonly healthy: boolean;
  readonly message?: string;
}

/** Says whether something this worker needs is there. Throwing, `false` and taking too long all mean: it is not. */
export type Check = () => boolean | CheckResult | undefined | Promise<boolean | CheckResult | undefined>;
export type Checks = Readonly<Record<string, Check>>;

/** Runs all checks beside each other, each for at most `timeoutMs`. Never throws. In the order they were given. */
export async function runChecks(checks: Checks, timeoutMs: number): Promise<HealthCheckInput[]> {
  return await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, ...(await within(check, timeoutMs)) })),
  );
}

async function within(check: Check, timeoutMs: number): Promise<{ healthy: boolean; message: string | null }> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(
      () => resolve({ healthy: false, message: `no result within ${timeoutMs / 1_000} s` }),
      timeoutMs,
    );
  });
  try {
    const result = await Promise.race([(async () => await check())(), late]);
    if (typeof result !== 'object') return { healthy: result !== false, message: null };
    return { healthy: result.healthy, message: result.message ?? null };
  } catch (error) {
    return { healthy: false, message: (error instanceof Error ? error.message : String(error)).slice(0, 1_000) };
  } finally {
    clearTimeout(timer);
  }
}
