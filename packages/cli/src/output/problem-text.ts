import type { PolicyProblem } from '@muster/core';
import type { Style } from './style.ts';

/** Problems of a file in the form that editors follow: `file:line:column: message [CODE]`. */
export function problemLines(file: string, problems: readonly PolicyProblem[], style: Style): string {
  return problems
    .map(({ line, column, message, code, severity }) => {
      const warning = severity === 'WARNING' ? style.yellow('warning: ') : '';
      return `${style.bold(`${file}:${line}:${column}:`)} ${warning}${message} ${style.dim(`[${code}]`)}`;
    })
    .join('\n');
}
