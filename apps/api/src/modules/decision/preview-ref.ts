import type { Decision } from '@muster/core';
import { builder } from '../../graphql/builder.ts';

/** A decision that was made for nobody: nothing is stored or dispatched. */
export interface PreviewView {
  readonly decision: Decision;
  readonly warnings: readonly string[];
}

export const DispatchPreviewRef = builder.objectRef<PreviewView>('DispatchPreview');
