import type { Command } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

/** One command of the tree, as completion sees it. */
interface Node {
  /** Words from the program on, e.g. `muster worker list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly {
    readonly flag: string;
    readonly short: string | null;
    readonly summary: string;
    readonly takes: boolean;
  }[];
  /** Values of its first argument, where they are fixed. */
  readonly choices: readonly string[];
  readonly files: boolean;
}

/** A script that completes commands, options and files of the program in a shell. It asks neither the program nor a server. */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = nodesOf(program, program.name());
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program.name(), nodes);
}

function nodesOf(command: Command, path: string): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  const node: Node = {
    path,
    commands: commands.map((one) => ({ name: one.name(), summary: firstSentence(one.description()) })),
    options: help.visibleOptions(command).map((option) => ({
      flag: option.long ?? option.short ?? '',
      short: option.short ?? null,
      summary: firstSentence(option.description),
      takes: option.required || option.optional,
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    files: command.registeredArguments.some((argument) => argument.name().includes('file')),
  };
  return [node, ...commands.flatMap((one) => nodesOf(one, `${path} ${one.name()}`))];
}

function firstSentence(text: string): string {
  return (/^.*?[.;:](?=\s|$)/.exec(text)?.[0] ?? text).replace(/[.;:]$/, '');
}

function wordsOf(node: Node): string[] {
  return [...node.commands.map(({ name }) => name), ...node.choices];
}

/** Options with a value, of the whole program: the word behind one is neither a command nor an option. */
function flagsWithValue(nodes: readonly Node[]): string[] {
  const flags = nodes.flatMap(({ options }) =>
    options.filter(({ takes }) => takes).flatMap(({ flag, short }) => [flag, short ?? flag]),
  );
  return [...new Set(flags)].toSorted();
}

function bashScript(name: string, nodes: readonly Node[]): string {
  const cases = nodes.map((node) => {
    const flags = node.options.map(({ flag }) => flag).join(' ');
    return `    ${quoted(node.path)}) words=${quoted(wordsOf(node).join(' '))} flags=${quoted(flags)} files=${node.files ? 1 : 0} ;;`;
  });
  return `# bash completion for ${name}: source <(${name} completion bash)
_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at=${quoted(name)} words='' flags='' files=0 word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in
${nodes
  .slice(1)
  .map((node) => `      ${quoted(node.path)}) at=${quoted(node.path)} ;;`)
  .join('\n')}
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${flagsWithValue(nodes).join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if ((files)); then COMPREPLY+=($(compgen -f -- "$cur")); fi
  fi
}
complete -o filenames -F _${name} ${name}`;
}

function zshScript(name: string, nodes: readonly Node[]): string {
  const described = (items: readonly { readonly name: string; readonly summary: string }[]): string =>
    items.map((one) => quoted(`${one.name.replaceAll(':', '\\:')}:${one.summary}`)).join(' ');
  const cases = nodes.map((node) => {
    const words = [...node.commands, ...node.choices.map((choice) => ({ name: choice, summary: '' }))];
    const flags = node.options.map(({ flag, summary }) => ({ name: flag, summary }));
    return `    ${quoted(node.path)}) words_=(${described(words)}); flags_=(${described(flags)}); files_=${node.files ? 1 : 0} ;;`;
  });
  return `#compdef ${name}
# zsh completion for ${name}: ${name} completion zsh > a file _${name} in your fpath
_${name}() {
  local at=${quoted(name)} word files_=0
  local -a words_ flags_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
${nodes
  .slice(1)
  .map((node) => `      ${quoted(node.path)}) at=${quoted(node.path)} ;;`)
  .join('\n')}
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  case "\${words[CURRENT-1]}" in
    ${flagsWithValue(nodes).join('|')}) _files; return ;;
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe option flags_
  else
    (( \${#words_} )) && _describe command words_
    (( files_ )) && _files
  fi
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi`;
}

function fishScript(name: string, nodes: readonly Node[]): string {
  const lines = nodes.flatMap((node) => {
    const at = `-n ${quoted(`_${name}_at ${node.path}`)}`;
    const words = [...node.commands, ...node.choices.map((choice) => ({ name: choice, summary: '' }))];
    return [
      ...words.map(
        (one) =>
          `complete -c ${name} ${at} -f -a ${quoted(one.name)}${one.summary === '' ? '' : ` -d ${quoted(one.summary)}`}`,
      ),
      ...node.options.map(({ flag, short, summary, takes }) => {
        const letter = short === null || short === flag ? '' : ` -s ${short.replace(/^-+/, '')}`;
        return `complete -c ${name} ${at} -l ${flag.replace(/^-+/, '')}${letter}${takes ? ' -r' : ''} -d ${quoted(summary)}`;
      }),
      ...(node.files ? [`complete -c ${name} ${at} -F`] : []),
    ];
  });
  return `# fish completion for ${name}: ${name} completion fish > ~/.config/fish/completions/${name}.fish
function _${name}_at
    set -l at ${name}
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${nodes
              .slice(1)
              .map((node) => quoted(node.path))
              .join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
complete -c ${name} -f
${lines.join('\n')}`;
}

/** A word that no shell looks into. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
