import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Glyph } from './icon.tsx';

const trimmed = (typed: string): string => typed.trim();

/**
 * The search of a list. What is typed is kept here and reported a moment later; a value that comes from elsewhere (Back,
 * Clear filters) replaces it. `normalise` says what a typed text comes back as.
 */
export function SearchField({
  label,
  placeholder,
  value,
  normalise = trimmed,
  onSearch,
}: {
  label: string;
  placeholder: string;
  value: string;
  normalise?: (typed: string) => string;
  onSearch: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setTyped(value);
  }, [value]);
  const report = useDebouncedCallback((text: string) => {
    reported.current = normalise(text);
    onSearch(reported.current);
  }, 200);
  return (
    <TextInput
      className="grow"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Glyph icon={IconSearch} />}
      rightSection={<kbd>/</kbd>}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        report(event.currentTarget.value);
      }}
    />
  );
}
