import { type ClientError, reconnectDelay } from '@muster/client';
import type { Reporter, StepPage } from './reporter.ts';
import type { RecordedStep } from './run-host.ts';

/**
 * Everything that is recorded of a claimed execution: the page that came with the claim, and the rest, asked for page by
 * page for as long as it takes. undefined: the claim is over.
 */
export async function claimedSteps(
  reporter: Pick<Reporter, 'stepPage'>,
  claim: { readonly id: string; readonly generation: number },
  first: StepPage,
): Promise<readonly RecordedStep[] | undefined> {
  const steps: RecordedStep[] = [...first.steps];
  let { after } = first;
  let failures = 0;
  while (after !== null) {
    try {
      const page: StepPage = await reporter.stepPage(claim.id, claim.generation, after);
      steps.push(...page.steps);
      ({ after } = page);
      failures = 0;
    } catch (error) {
      if ((error as ClientError).code !== 'UNAVAILABLE') return undefined;
      await new Promise((resolve) => setTimeout(resolve, reconnectDelay(failures, Math.random)));
      failures += 1;
    }
  }
  return steps;
}
