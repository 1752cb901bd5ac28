import type { DueSchedule, ScheduleTarget } from '../../dispatch/statements/schedule-fire.ts';
import type { DeploymentService } from '../deployment/deployment-service.ts';
import type { WorkflowService } from '../workflow/workflow-service.ts';
import type { TargetColumns } from './schedule-row.ts';

/** What a run of a schedule starts now, by the same rules as a call. Errors: NOT_FOUND, BAD_INPUT, NO_HEALTHY_VARIANT. */
export function scheduleTargets(
  workflows: WorkflowService,
  deployments: DeploymentService,
): (schedule: TargetColumns | DueSchedule) => Promise<ScheduleTarget> {
  return async ({ workflow, versionId, deployment, sessionKey }) => {
    if (deployment !== null) {
      const resolved = await deployments.resolve(deployment, sessionKey, 'deployment');
      return {
        versionId: resolved.version.id,
        deploymentId: resolved.deployment.id,
        variant: resolved.variant.label,
        targetRoles: resolved.variant.targetRoles,
      };
    }
    const version = await workflows.versionFor(workflow ?? '', versionId, 'workflow');
    return { versionId: version.id, deploymentId: null, variant: null, targetRoles: [] };
  };
}
