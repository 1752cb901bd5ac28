import type { Variant } from '@muster/core';
import type { DeploymentRow } from './deployment-store.ts';

/** A variant with the deployment it is part of. */
export interface VariantView {
  readonly deployment: DeploymentRow;
  readonly variant: Variant;
}

export function variantViews(deployment: DeploymentRow): VariantView[] {
  return deployment.variants.map((variant) => ({ deployment, variant }));
}
