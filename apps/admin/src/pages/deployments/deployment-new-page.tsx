import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { CreateDeploymentMutation } from '../../api/generated/graphql.ts';
import { useRoles } from '../../api/roles.ts';
import { usePermission } from '../../api/viewer.ts';
import { usePage } from '../../hooks/use-page.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { PageHead, Panel } from '../../ui/layout.tsx';
import { neededText, PermittedButton } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { CreateDeploymentDocument } from './deployment-queries.ts';
import { type DraftVariant, newVariant, problemsOf, readWeight, toInput } from './draft.ts';
import type { SharedVariant } from './share-bars.tsx';
import { sharesOf } from './shares.ts';
import { VariantsEditor } from './variants-editor.tsx';

const SLUG = /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/;

export function DeploymentNewPage() {
  usePage([{ name: 'Deployments', href: paths.deployments() }, { name: 'Create a deployment' }]);
  const client = useQueryClient();
  const follow = useFollow();
  const roles = useRoles().data?.items ?? null;
  const [slug, setSlug] = useState('');
  const need = usePermission(`deployment:${slug === '' ? '{slug}' : slug}:write`);
  const [module, setModule] = useState('');
  const [description, setDescription] = useState('');
  const [variants, setVariants] = useState<readonly DraftVariant[]>(() => [newVariant([], 'first')]);
  const [checked, setChecked] = useState(false);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const create = useMutation<CreateDeploymentMutation, ApiError>({
    mutationFn: () =>
      execute(CreateDeploymentDocument, {
        input: {
          slug,
          ...(module !== '' && { module }),
          ...(description !== '' && { description }),
          variants: toInput(variants),
          idempotencyKey,
        },
      }),
    onSuccess: ({ createDeployment }) => {
      void client.invalidateQueries({ queryKey: ['deployments'] });
      showToast({ message: `${slug} created` });
      follow(paths.deployment(createDeployment.deployment.slug));
    },
  });
  const issues = Object.fromEntries(
    (create.error?.issues ?? []).map((issue) => [issue.path.replace(/^input\./, ''), issue.message]),
  );
  const own = problemsOf(variants);
  const slugProblem = SLUG.test(slug) ? null : 'Lower case letters, digits and dashes; at most 64.';
  const healthy = roles && new Set(roles.filter((role) => role.healthy).map((role) => role.role));
  const shares = sharesOf(
    variants.map((variant) => ({ weight: readWeight(variant.weight), targetRoles: variant.targetRoles })),
    (role) => healthy === null || healthy.has(role),
  );
  const shared: SharedVariant[] = variants.map((variant, index) => ({
    key: variant.key,
    label: variant.label,
    share: shares[index] ?? { configured: 0, effective: 0, dead: false },
    observed: null,
  }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (slugProblem === null && Object.keys(own).length === 0) create.mutate();
  };
  return (
    <>
      <PageHead title="Create a deployment" meta="A name that callers use, and the variants behind it." />
      {create.error && (
        <Banner tone="bad" title="Not created">
          {create.error.message} <span className="mute">{create.error.code}</span>
        </Banner>
      )}
      {!need.allowed && (
        <Banner tone="accent" title="You may look, not change">
          {neededText(need)}.
        </Banner>
      )}
      <form onSubmit={submit} noValidate>
        <Panel title="Name" className="mb">
          <div className="grid g3">
            <TextInput
              label="Name"
              description="What callers write, e.g. assistant."
              value={slug}
              onChange={(event) => setSlug(event.currentTarget.value)}
              error={issues['slug'] ?? (checked ? slugProblem : null)}
              autoComplete="off"
            />
            <TextInput
              label="Asked for by"
              description="The module or service that routes by it."
              value={module}
              onChange={(event) => setModule(event.currentTarget.value)}
              error={issues['module']}
            />
            <TextInput
              label="Description"
              description="For whoever reads the list."
              value={description}
              onChange={(event) => setDescription(event.currentTarget.value)}
              error={issues['description']}
            />
          </div>
        </Panel>
        <VariantsEditor
          variants={variants}
          shared={shared}
          roles={roles}
          problems={checked ? { ...issues, ...own } : issues}
          onChange={setVariants}
        />
        <div className="form-actions">
          <PermittedButton type="submit" variant="filled" need={need} loading={create.isPending}>
            Create deployment
          </PermittedButton>
          <Button onClick={() => follow(paths.deployments())}>Cancel</Button>
        </div>
      </form>
    </>
  );
}
