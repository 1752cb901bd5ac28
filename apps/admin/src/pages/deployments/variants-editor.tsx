import { Button, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { DeployableWorkflowsQuery } from '../../api/generated/graphql.ts';
import type { RoleFacts } from '../../api/roles.ts';
import { count } from '../../format.ts';
import { Glyph } from '../../ui/icon.tsx';
import { Panel } from '../../ui/layout.tsx';
import { FlowsDocument } from './deployment-queries.ts';
import { type DraftVariant, evenSplit, newVariant, readWeight } from './draft.ts';
import { RolePicker } from './role-picker.tsx';
import { ShareFlow, ShareLines, type SharedVariant } from './share-bars.tsx';

type Flows = DeployableWorkflowsQuery['workflows']['nodes'];

/** The workflows that a variant may run, with their versions. `flows` undefined: not read yet, or not readable. */
export function useFlows(): { flows: Flows | undefined; failure: ApiError | null } {
  const query = useQuery<DeployableWorkflowsQuery, ApiError>({
    queryKey: ['workflows', 'deployable'],
    queryFn: ({ signal }) => execute(FlowsDocument, {}, { signal }),
  });
  return { flows: query.data?.workflows.nodes, failure: query.error };
}

/** The variants as rows: what runs, how much of it, where. `shared` stands in the same order. */
export function VariantsEditor({
  variants,
  shared,
  roles,
  problems,
  onChange,
}: {
  variants: readonly DraftVariant[];
  shared: readonly SharedVariant[];
  /** null: not read. */
  roles: readonly RoleFacts[] | null;
  problems: Readonly<Record<string, string>>;
  onChange: (next: DraftVariant[]) => void;
}) {
  const { flows = [], failure } = useFlows();
  const patch = (index: number, change: Partial<DraftVariant>): void =>
    onChange(variants.map((variant, i) => (i === index ? { ...variant, ...change } : variant)));
  const sum = variants.reduce((total, variant) => total + (readWeight(variant.weight) ?? 0), 0);
  return (
    <Panel
      title="Variants"
      count={variants.length}
      flush
      open
      className="mb"
      aside={
        <>
          <Button size="xs" onClick={() => onChange(evenSplit(variants))}>
            Even split
          </Button>
          <Button
            size="xs"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => onChange([...variants, newVariant(variants, crypto.randomUUID())])}
          >
            Add variant
          </Button>
        </>
      }
    >
      <table className="tb vt">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            <th scope="col">Workflow</th>
            <th scope="col">Weight</th>
            <th scope="col">Configured → effective → observed</th>
            <th scope="col">
              <span className="sr">Share bars</span>
            </th>
            <th scope="col" style={{ width: 300 }}>
              Target roles
            </th>
            <th scope="col">
              <span className="sr">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {variants.map((variant, index) => (
            <VariantRow
              key={variant.key}
              variant={variant}
              shared={shared[index]}
              flows={flows}
              roles={roles}
              issue={(field) => problems[`variants.${index}.${field}`] ?? null}
              removable={variants.length > 1}
              onChange={(change) => patch(index, change)}
              onRemove={() => onChange(variants.filter((_, i) => i !== index))}
            />
          ))}
        </tbody>
      </table>
      <div className="note">
        Weights add up to {count(sum)}. A share is weight ÷ sum of weights.
        {failure && (
          <span className="field-error" role="alert">
            The workflows could not be read: {failure.message} {failure.code}
          </span>
        )}
        {problems['variants'] && (
          <span className="field-error" role="alert">
            {problems['variants']}
          </span>
        )}
      </div>
    </Panel>
  );
}

function VariantRow({
  variant,
  shared,
  flows,
  roles,
  issue,
  removable,
  onChange,
  onRemove,
}: {
  variant: DraftVariant;
  shared: SharedVariant | undefined;
  flows: Flows;
  roles: readonly RoleFacts[] | null;
  issue: (field: string) => string | null;
  removable: boolean;
  onChange: (change: Partial<DraftVariant>) => void;
  onRemove: () => void;
}) {
  return (
    <tr>
      <th scope="row">
        <TextInput
          aria-label={`Label of ${variant.label}`}
          w={120}
          value={variant.label}
          onChange={(event) => onChange({ label: event.currentTarget.value })}
          error={issue('label')}
        />
      </th>
      <td>
        <FlowFields variant={variant} flows={flows} issue={issue} onChange={onChange} />
      </td>
      <td>
        <TextInput
          aria-label={`Weight of ${variant.label}`}
          inputMode="numeric"
          w={76}
          value={variant.weight}
          onChange={(event) => onChange({ weight: event.currentTarget.value })}
          error={issue('weight') !== null}
          aria-description={issue('weight') ?? undefined}
        />
      </td>
      <td>{shared && <ShareFlow share={shared.share} observed={shared.observed} />}</td>
      <td>{shared && <ShareLines share={shared.share} observed={shared.observed} />}</td>
      <td>
        <RolePicker
          variant={variant.label}
          value={variant.targetRoles}
          roles={roles}
          onChange={(targetRoles) => onChange({ targetRoles })}
        />
        {shared?.share.dead && (
          <span className="field-warning" role="alert">
            Variant {variant.label} will be skipped: none of its roles has a healthy worker.
          </span>
        )}
        {['weight', 'targetRoles'].map((field) => {
          const text = issue(field);
          return (
            text && (
              <span className="field-error" role="alert" key={field}>
                {text}
              </span>
            )
          );
        })}
      </td>
      <td className="r">
        <button
          type="button"
          className="icon-button dense"
          aria-label={`Remove ${variant.label}`}
          disabled={!removable}
          onClick={onRemove}
        >
          <Glyph icon={IconX} size={14} />
        </button>
      </td>
    </tr>
  );
}

function FlowFields({
  variant,
  flows,
  issue,
  onChange,
}: {
  variant: DraftVariant;
  flows: Flows;
  issue: (field: string) => string | null;
  onChange: (change: Partial<DraftVariant>) => void;
}) {
  const versions = flows.find((each) => each.ref === variant.flowId)?.versions.nodes ?? [];
  return (
    <span className="flow-fields">
      <Select
        aria-label={`Workflow of ${variant.label}`}
        w={170}
        searchable
        allowDeselect={false}
        placeholder="Workflow"
        data={options(
          flows.map((each) => each.ref),
          variant.flowId,
        )}
        value={variant.flowId === '' ? null : variant.flowId}
        onChange={(flowId) => onChange({ flowId: flowId ?? '', versionId: null })}
        error={issue('flowId')}
      />
      <Select
        aria-label={`Version of ${variant.label}`}
        w={92}
        allowDeselect={false}
        data={[
          { value: 'latest', label: 'latest' },
          ...versions.map((version) => ({ value: version.id, label: `v${version.number}` })),
        ]}
        value={variant.versionId ?? 'latest'}
        onChange={(version) => onChange({ versionId: version === 'latest' ? null : version })}
        error={issue('versionId')}
      />
    </span>
  );
}

/** A saved value stays choosable where its workflow is not in the list. */
function options(known: readonly string[], value: string): string[] {
  return value === '' || known.includes(value) ? [...known] : [value, ...known];
}
