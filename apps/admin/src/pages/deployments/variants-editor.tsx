import { Button, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { execute } from '../../api/client.ts';
import type { RoleFacts } from '../../api/roles.ts';
import { count } from '../../format.ts';
import { Glyph } from '../../ui/icon.tsx';
import { Panel } from '../../ui/layout.tsx';
import { FlowsDocument } from './deployment-queries.ts';
import { type DraftVariant, evenSplit, newVariant, readWeight } from './draft.ts';
import { RolePicker } from './role-picker.tsx';
import { ShareFlow, ShareLines, type SharedVariant } from './share-bars.tsx';

export function useFlows() {
  return useQuery({
    queryKey: ['workflows', 'deployable'],
    queryFn: ({ signal }) => execute(FlowsDocument, {}, { signal }),
  }).data?.workflows.nodes;
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
  roles: readonly RoleFacts[];
  problems: Readonly<Record<string, string>>;
  onChange: (next: DraftVariant[]) => void;
}) {
  const flows = useFlows() ?? [];
  const patch = (index: number, change: Partial<DraftVariant>): void =>
    onChange(variants.map((variant, i) => (i === index ? { ...variant, ...change } : variant)));
  const sum = variants.reduce((total, variant) => total + (readWeight(variant.weight) ?? 0), 0);
  const issue = (index: number, field: string): string | null => problems[`variants.${index}.${field}`] ?? null;
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
          {variants.map((variant, index) => {
            const share = shared[index];
            const flow = flows.find((each) => each.ref === variant.flowId);
            return (
              <tr key={variant.key}>
                <th scope="row">
                  <TextInput
                    aria-label={`Label of ${variant.label}`}
                    w={120}
                    value={variant.label}
                    onChange={(event) => patch(index, { label: event.currentTarget.value })}
                    error={issue(index, 'label')}
                  />
                </th>
                <td>
                  <span style={{ display: 'flex', gap: 4, alignItems: 'flex-start' }}>
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
                      onChange={(flowId) => patch(index, { flowId: flowId ?? '', versionId: null })}
                      error={issue(index, 'flowId')}
                    />
                    <Select
                      aria-label={`Version of ${variant.label}`}
                      w={92}
                      allowDeselect={false}
                      data={[
                        { value: 'latest', label: 'latest' },
                        ...(flow?.versions.nodes ?? []).map((version) => ({
                          value: version.id,
                          label: `v${version.number}`,
                        })),
                      ]}
                      value={variant.versionId ?? 'latest'}
                      onChange={(version) => patch(index, { versionId: version === 'latest' ? null : version })}
                      error={issue(index, 'versionId')}
                    />
                  </span>
                </td>
                <td>
                  <TextInput
                    aria-label={`Weight of ${variant.label}`}
                    inputMode="numeric"
                    w={76}
                    value={variant.weight}
                    onChange={(event) => patch(index, { weight: event.currentTarget.value })}
                    error={issue(index, 'weight') !== null}
                    aria-description={issue(index, 'weight') ?? undefined}
                  />
                </td>
                <td>{share && <ShareFlow share={share.share} observed={share.observed} />}</td>
                <td>{share && <ShareLines share={share.share} observed={share.observed} />}</td>
                <td>
                  <RolePicker
                    variant={variant.label}
                    value={variant.targetRoles}
                    roles={roles}
                    onChange={(targetRoles) => patch(index, { targetRoles })}
                  />
                  {share?.share.dead && (
                    <span className="field-error" role="alert">
                      Variant {variant.label} will be skipped: none of its roles has a healthy worker.
                    </span>
                  )}
                  {['weight', 'targetRoles'].map((field) => {
                    const text = issue(index, field);
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
                    disabled={variants.length === 1}
                    onClick={() => onChange(variants.filter((_, i) => i !== index))}
                  >
                    <Glyph icon={IconX} size={14} />
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <div className="note">
        Weights add up to {count(sum)}. A share is weight ÷ sum of weights.
        {problems['variants'] && (
          <span className="field-error" role="alert">
            {problems['variants']}
          </span>
        )}
      </div>
    </Panel>
  );
}

/** A saved value stays choosable where its workflow is not in the list. */
function options(known: readonly string[], value: string): string[] {
  return value === '' || known.includes(value) ? [...known] : [value, ...known];
}
