/** Pure: writes the completion scripts of shells from the table of commands. */
import type { Command } from 'commander'

/** Shells for which there is a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletedShell = (typeof SHELLS)[number]

/** A subcommand or an option that can follow a command. */
interface Word {
  readonly text: string
  readonly description: string
}

/** A command by its path, such as `tools invoke`, and the words that can follow it. */
interface Completed {
  readonly path: readonly string[]
  readonly words: readonly Word[]
}

/** Returns the script that completes the commands and options of a program. */
export function writeCompletion(program: Command, shell: CompletedShell): string {
  // Longer paths first: the first case that matches is used.
  const commands = listCompleted(program, []).toSorted((a, b) => b.path.length - a.path.length)
  return WRITERS[shell](program.name(), commands)
}

function listCompleted(command: Command, path: readonly string[]): readonly Completed[] {
  const help = command.createHelp()
  const below = help.visibleCommands(command)
  const words = [
    ...below.map((one) => ({ text: one.name(), description: one.description() })),
    ...help.visibleOptions(command).flatMap(({ long, description }) => {
      return typeof long === 'string' ? [{ text: long, description }] : []
    }),
  ]
  const children = below.filter((one) => command.commands.includes(one))
  return [{ path, words }, ...children.flatMap((one) => listCompleted(one, [...path, one.name()]))]
}

const WRITERS: Readonly<
  Record<CompletedShell, (name: string, commands: readonly Completed[]) => string>
> = {
  bash: (name, commands) => `_${name}() {
  local words
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${writeCases(commands, ({ words }) => `words='${words.map(({ text }) => text).join(' ')}'`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`,
  zsh: (name, commands) => `#compdef ${name}
_${name}() {
  local -a entries
  case "\${words[2,CURRENT-1]} " in
${writeCases(commands, ({ words }) => {
  const entries = words.map(({ text, description }) => quote(`${text}:${description}`))
  return `entries=(${entries.join(' ')})`
})}
  esac
  _describe ${name} entries || _files
}
if [ "$funcstack[1]" = _${name} ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`,
  fish: (name, commands) => commands.map((completed) => writeFishLines(name, completed)).join(''),
}

function writeCases(
  commands: readonly Completed[],
  write: (completed: Completed) => string,
): string {
  return commands
    .map((completed) => {
      const { path } = completed
      const pattern = path.length === 0 ? '*' : `'${path.join(' ')} '*`
      return `    ${pattern}) ${write(completed)} ;;`
    })
    .join('\n')
}

function writeFishLines(name: string, { path, words }: Completed): string {
  const seen = path.map((part) => `__fish_seen_subcommand_from ${part}`)
  const when = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ')
  return words
    .map(({ text, description }) => {
      const word = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${text}`
      const shown = description.replaceAll(/['\\]/g, String.raw`\$&`)
      return `complete -c ${name} -n '${when}' ${word} -d '${shown}'\n`
    })
    .join('')
}

/** Quotes a text for zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
