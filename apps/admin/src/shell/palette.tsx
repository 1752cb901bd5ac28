import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  type Icon,
  IconGitFork,
  IconPlayerPlay,
  IconPlus,
  IconScale,
  IconServer,
  IconSitemap,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import { execute } from '../api/client.ts';
import { graphql } from '../api/generated/gql.ts';
import type { PaletteQuery } from '../api/generated/graphql.ts';
import { paths } from '../paths.ts';
import { useFollow } from '../ui/anchor.tsx';
import { Glyph } from '../ui/icon.tsx';
import { SECTIONS } from './nav.tsx';

const PaletteDocument = graphql(`
  query Palette($search: String!) {
    workers(first: 6, filter: { search: $search }) {
      nodes {
        name
        role
      }
    }
    deployments(first: 6, filter: { search: $search }) {
      nodes {
        slug
      }
    }
    workflows(first: 6, search: $search) {
      nodes {
        ref
      }
    }
  }
`);

interface Item {
  group: string;
  name: string;
  hint: string;
  icon: Icon;
  href: string;
}

const FIXED: readonly Item[] = [
  ...SECTIONS.map((section) => ({
    group: 'Go to',
    name: section.name,
    hint: `g ${section.key}`,
    icon: section.icon,
    href: section.href,
  })),
  { group: 'Actions', name: 'Start an execution', hint: '', icon: IconPlus, href: paths.executionNew() },
  { group: 'Actions', name: 'Create a deployment', hint: '', icon: IconPlus, href: paths.deploymentNew() },
];

function found(text: string, data: PaletteQuery | undefined): Item[] {
  const items: Item[] = [];
  if (/^ex_\S+$/.test(text)) {
    items.push({ group: 'Open', name: text, hint: 'execution', icon: IconPlayerPlay, href: paths.execution(text) });
  }
  if (/^de_\S+$/.test(text)) {
    items.push({ group: 'Open', name: text, hint: 'decision', icon: IconScale, href: paths.decision(text) });
  }
  for (const { name, role } of data?.workers.nodes ?? []) {
    items.push({ group: 'Workers', name, hint: role, icon: IconServer, href: paths.worker(name) });
  }
  for (const { slug } of data?.deployments.nodes ?? []) {
    items.push({ group: 'Deployments', name: slug, hint: '', icon: IconGitFork, href: paths.deployment(slug) });
  }
  for (const { ref } of data?.workflows.nodes ?? []) {
    items.push({ group: 'Workflows', name: ref, hint: '', icon: IconSitemap, href: paths.workflow(ref) });
  }
  return items;
}

/** Ctrl/⌘ K: sections, actions, and whatever has the typed text in its name; a pasted id goes straight to its page. */
export function Palette({ onClose }: { onClose: () => void }) {
  const follow = useFollow();
  const id = useId();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const text = typed.trim();
  const [search] = useDebouncedValue(text, 120);
  const { data } = useQuery({
    queryKey: ['palette', search],
    queryFn: ({ signal }) => execute(PaletteDocument, { search }, { signal }),
    enabled: search !== '' && !search.includes('_0'),
    placeholderData: keepPreviousData,
  });
  const fixed = FIXED.filter((item) => item.name.toLowerCase().includes(text.toLowerCase()));
  const items = text === '' ? fixed : [...found(text, data), ...fixed];
  const at = Math.min(active, items.length - 1);
  const open = (item: Item | undefined): void => {
    if (!item) return;
    onClose();
    follow(item.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(items.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, at - 1));
    else if (event.key === 'Enter') open(items[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root opened onClose={onClose} padding={0} size={560} yOffset="12vh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label="Command palette">
        <div className="palette">
          <input
            data-autofocus
            role="combobox"
            aria-label="Search or jump to"
            aria-expanded
            aria-controls={id}
            aria-activedescendant={items[at] ? `${id}-${at}` : undefined}
            placeholder="Worker, deployment, workflow, or an id like ex_0193…"
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          <div className="results" id={id} role="listbox" aria-label="Results" tabIndex={-1}>
            {items.map((item, index) => (
              <div key={`${item.group} ${item.href}`} role="presentation">
                {items[index - 1]?.group !== item.group && (
                  <div className="group" role="presentation">
                    {item.group}
                  </div>
                )}
                {/* The keyboard stays in the field; the option is reached through aria-activedescendant. */}
                {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
                <div
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  onClick={() => open(item)}
                  onMouseMove={() => setActive(index)}
                >
                  <Glyph icon={item.icon} />
                  {item.name}
                  {item.hint !== '' && <span className="hint">{item.hint}</span>}
                </div>
              </div>
            ))}
          </div>
          {items.length === 0 && (
            <p className="note" role="status">
              Nothing has “{text}” in its name.
            </p>
          )}
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}
