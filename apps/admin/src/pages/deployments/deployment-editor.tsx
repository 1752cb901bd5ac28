import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { DeploymentQuery, UpdateDeploymentMutation } from '../../api/generated/graphql.ts';
import { currentOf } from '../../api/conflict.ts';
import type { RoleFacts } from '../../api/roles.ts';
import { usePermission } from '../../api/viewer.ts';
import { Banner } from '../../ui/banner.tsx';
import { ConflictDialog } from '../../ui/conflict-dialog.tsx';
import { Panel } from '../../ui/layout.tsx';
import { neededText } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import {
  type DeploymentDetail,
  DeploymentDocument,
  PreviewDeploymentDocument,
  RollbackDeploymentDocument,
  UpdateDeploymentDocument,
} from './deployment-queries.ts';
import { DeadRoleBanners } from './dead-role-banners.tsx';
import { changesOf, draftOf, problemsOf, readWeight, toInput } from './draft.ts';
import { ReviewBar, ReviewDialog } from './review.tsx';
import { SharePanel, type SharedVariant } from './share-bars.tsx';
import { sharesOf } from './shares.ts';
import { useFlows, VariantsEditor } from './variants-editor.tsx';

interface Save {
  comment: string;
  expectedRevision: number;
  /** Also where work of a removed variant waits. */
  force?: boolean;
}

/** Edits one deployment on top of the revision it was opened with. Roles and observed shares stay live meanwhile. */
export function DeploymentEditor({
  deployment,
  roles,
}: {
  deployment: DeploymentDetail;
  /** null: not read. No variant is then called dead. */
  roles: readonly RoleFacts[] | null;
}) {
  const client = useQueryClient();
  const need = usePermission(`deployment:${deployment.slug}:write`);
  const [base, setBase] = useState(deployment);
  const [draft, setDraft] = useState(() => draftOf(deployment));
  const [reviewing, setReviewing] = useState(false);
  const [issues, setIssues] = useState<Record<string, string>>({});
  const { flows } = useFlows();
  const versionName = (id: string | null): string => {
    if (id === null) return 'latest';
    const number = flows?.flatMap((flow) => flow.versions.nodes).find((version) => version.id === id)?.number;
    return number === undefined ? id : `v${number}`;
  };
  const saved = useMemo(() => draftOf(base), [base]);
  const changes = changesOf(saved, draft, versionName);
  const dirty = changes.length > 0;
  const reset = (next: DeploymentDetail): void => {
    setBase(next);
    setDraft(draftOf(next));
    setIssues({});
    setReviewing(false);
  };
  // Somebody saved meanwhile and nothing is typed here: show theirs. What is typed is kept, and told at save.
  if (!dirty && deployment.revision > base.revision) reset(deployment);
  const problems = { ...issues, ...problemsOf(draft.variants) };
  const healthy = useMemo(
    () => roles && new Set(roles.filter((role) => role.healthy).map((role) => role.role)),
    [roles],
  );
  const shares = sharesOf(
    draft.variants.map((variant) => ({ weight: readWeight(variant.weight), targetRoles: variant.targetRoles })),
    (role) => healthy === null || healthy.has(role),
  );
  const shared: SharedVariant[] = draft.variants.map((variant, index) => ({
    key: variant.key,
    label: variant.label,
    share: shares[index] ?? { configured: 0, effective: 0, dead: false },
    observed: deployment.variants.find((each) => each.label === variant.key)?.observedShare ?? null,
  }));
  const observedCount = deployment.variants.reduce((sum, variant) => sum + variant.observedCount, 0);
  const valid = Object.keys(problemsOf(draft.variants)).length === 0;
  const preview = usePreview(deployment.slug, dirty && valid ? toInput(draft.variants) : null);
  const save = useMutation<UpdateDeploymentMutation, ApiError, Save>({
    mutationFn: ({ comment, expectedRevision, force = false }) =>
      execute(UpdateDeploymentDocument, {
        input: {
          slug: deployment.slug,
          expectedRevision,
          module: draft.module,
          description: draft.description,
          variants: toInput(draft.variants),
          force,
          ...(comment !== '' && { comment }),
        },
      }),
    onSuccess: ({ updateDeployment }) => {
      const before = base.revision;
      const next = updateDeployment.deployment;
      client.setQueryData<DeploymentQuery>(['deployments', 'one', deployment.slug], { deployment: next });
      void client.invalidateQueries({ queryKey: ['deployments'] });
      reset(next);
      showToast({
        message: `Revision ${next.revision} saved`,
        undo: () => undo.mutate({ to: before, from: next.revision }),
      });
    },
    onError: (error) => {
      setIssues(Object.fromEntries(error.issues.map((issue) => [issue.path.replace(/^input\./, ''), issue.message])));
      if (error.issues.length > 0) setReviewing(false);
    },
  });
  const undo = useMutation<DeploymentDetail, ApiError, { to: number; from: number }>({
    mutationFn: async ({ to, from }) =>
      (
        await execute(RollbackDeploymentDocument, {
          input: { slug: deployment.slug, toRevision: to, expectedRevision: from, comment: `Undo of revision ${from}` },
        })
      ).rollbackDeployment.deployment,
    onSuccess: (next) => {
      client.setQueryData<DeploymentQuery>(['deployments', 'one', deployment.slug], { deployment: next });
      void client.invalidateQueries({ queryKey: ['deployments'] });
      reset(next);
      showToast({ message: `Revision ${next.revision} is as before` });
    },
    onError: (error) => showToast({ message: error.message }),
  });
  const conflict = currentOf(save.error);
  const takeTheirs = async (): Promise<void> => {
    const fresh = await execute(DeploymentDocument, { slug: deployment.slug });
    client.setQueryData<DeploymentQuery>(['deployments', 'one', deployment.slug], fresh);
    save.reset();
    if (fresh.deployment) reset(fresh.deployment);
  };
  return (
    <>
      <DeadRoleBanners
        variants={shared.map((each, index) => ({ ...each, targetRoles: draft.variants[index]?.targetRoles ?? [] }))}
      />
      {!need.allowed && (
        <Banner tone="accent" title="You may look, not change">
          {neededText(need)}.
        </Banner>
      )}
      {save.error && !conflict && !reviewing && (
        <Banner tone="bad" title="Not saved">
          {save.error.message} <span className="mute">{save.error.code}</span>
        </Banner>
      )}
      <VariantsEditor
        variants={draft.variants}
        shared={shared}
        roles={roles}
        problems={problems}
        onChange={(variants) => {
          setIssues({});
          setDraft((old) => ({ ...old, variants }));
        }}
      />
      <SharePanel variants={shared} observedCount={observedCount} />
      <Panel title="Description">
        <div className="grid g2">
          <TextInput
            label="Asked for by"
            description="The module or service that routes by this deployment."
            value={draft.module}
            onChange={(event) => {
              const module = event.currentTarget.value;
              setDraft((old) => ({ ...old, module }));
            }}
            error={issues['module']}
          />
          <TextInput
            label="Description"
            description="For whoever reads the list."
            value={draft.description}
            onChange={(event) => {
              const description = event.currentTarget.value;
              setDraft((old) => ({ ...old, description }));
            }}
            error={issues['description']}
          />
        </div>
      </Panel>
      {dirty && (
        <ReviewBar
          changes={changes}
          movedShare={preview?.movedShare ?? null}
          need={need}
          blocked={!valid}
          onDiscard={() => {
            save.reset();
            reset(deployment);
          }}
          onReview={() => {
            save.reset();
            setReviewing(true);
          }}
        />
      )}
      {reviewing && !conflict && (
        <ReviewDialog
          slug={deployment.slug}
          changes={changes}
          movedShare={preview?.movedShare ?? null}
          warnings={preview?.warnings ?? []}
          error={save.error}
          pending={save.isPending}
          onSave={(comment, force) => save.mutate({ comment, expectedRevision: base.revision, force })}
          onClose={() => setReviewing(false)}
        />
      )}
      {conflict && (
        <ConflictDialog
          current={conflict}
          theirs={changesOf(saved, draftOf(deployment), versionName)}
          yours={changes}
          pending={save.isPending}
          onTake={() => void takeTheirs()}
          onKeep={() =>
            save.mutate({ comment: `Overwrites revision ${conflict.revision}`, expectedRevision: conflict.revision })
          }
          onClose={() => {
            save.reset();
            setReviewing(false);
          }}
        />
      )}
    </>
  );
}

/** What the draft would move, asked a moment after typing stops. */
function usePreview(slug: string, variants: ReturnType<typeof toInput> | null) {
  const [settled] = useDebouncedValue(variants === null ? null : JSON.stringify(variants), 300);
  const { data } = useQuery({
    queryKey: ['deployment-preview', slug, settled],
    queryFn: ({ signal }) =>
      execute(
        PreviewDeploymentDocument,
        { input: { slug, variants: JSON.parse(settled ?? '[]') as ReturnType<typeof toInput> } },
        { signal },
      ),
    enabled: settled !== null && variants !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return variants === null ? null : (data?.previewDeployment ?? null);
}
