import { Textarea } from '@mantine/core';
import { readPermissions } from './permission-text.ts';

/** Permissions, one a line, with the problems of each line while it is typed. */
export function PermissionField({
  label,
  description,
  value,
  problem,
  readOnly = false,
  onChange,
}: {
  label: string;
  description: string;
  value: string;
  /** What the server has said of them. */
  problem: string | null;
  readOnly?: boolean;
  onChange: (value: string) => void;
}) {
  const { problems } = readPermissions(value);
  const told = problems.map(({ line, message }) => `Line ${line}: ${message}.`);
  if (problem !== null) told.push(problem);
  return (
    <Textarea
      label={label}
      description={description}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      readOnly={readOnly}
      autosize
      minRows={4}
      maxRows={14}
      spellCheck={false}
      autoComplete="off"
      error={
        told.length === 0
          ? null
          : told.map((line) => (
              <span key={line} className="line-problem">
                {line}
              </span>
            ))
      }
      styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12 } }}
    />
  );
}
