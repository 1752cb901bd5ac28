import type { DueSchedule, ScheduleTarget } from '../../dispatch/statements/schedule-fire.ts';
import type { DeploymentService } from '../deployment/deployment-service.ts';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { WorkflowService } from '../workflow/workflow-service.ts';
import type { TargetColumns } from './schedule-row.ts';

/** What a run of a schedule starts now, by the same rules as a call of the viewer. Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT, NO_HEALTHY_VARIANT. */
export function scheduleTargets(
  workflows: WorkflowService,
  deployments: DeploymentService,
): (schedule: TargetColumns | DueSchedule, viewer: Viewer) => Promise<ScheduleTarget> {
  return async ({ workflow, versionId, deployment, sessionKey }, viewer) => {
    if (deployment !== null) {
      const resolved = await deployments.resolve(deployment, sessionKey, {
        viewer,
        action: 'run',
        field: 'deployment',
      });
      return {
        versionId: resolved.version.id,
        deploymentId: resolved.deployment.id,
        variant: resolved.variant.label,
        targetRoles: resolved.variant.targetRoles,
      };
    }
    const version = await workflows.versionFor(workflow ?? '', versionId, 'workflow', { viewer, action: 'run' });
    return { versionId: version.id, deploymentId: null, variant: null, targetRoles: [] };
  };
}

/** The right to run what it runs. Errors: FORBIDDEN. */
export function requireTarget(
  { workflow, deployment }: Pick<TargetColumns, 'workflow' | 'deployment'>,
  viewer: Viewer,
): void {
  if (deployment !== null) requirePermission(viewer, `deployment:${deployment}:run`, 'deployment');
  else if (workflow !== null) requirePermission(viewer, `workflow:${workflow.replace('/', ':')}:run`, 'workflow');
}
