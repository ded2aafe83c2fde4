/** Generates the reference page of the `tutti` command from commander's definitions. */
import { PassThrough } from 'node:stream'

import { createProgram } from '../../apps/server/src/cli/program.ts'
import { EXIT_CODES } from '../../apps/server/src/cli/exit-codes.ts'
import { DEFAULT_URL } from '../../apps/server/src/cli/target.ts'
import { code, page, table } from './markdown.ts'

/** Parts of a commander command that this page uses. */
export type Program = ReturnType<typeof createProgram>

/** Returns the program with streams that discard its output. */
export function silentProgram(): Program {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const io = { ...streams, variables: {}, cwd: '.', onSignal: () => () => undefined }
  return createProgram({ io, exit: 'OK', url: DEFAULT_URL })
}

/** Returns the text of `docs/reference/cli.md`. */
export function cliPage(): string {
  const program = silentProgram()
  const ends = Object.values(EXIT_CODES).map((end) => [String(end.code), end.meaning])
  return page('The tutti command', [
    'In a project with `@tutti/server`: `npx tutti <command>`, or a script of its `package.json`. `tutti help <command>` shows the same.',
    '',
    ...program.commands.flatMap((command) => sectionOf(command, 'tutti')),
    '## Exit codes',
    '',
    ...table(['code', 'meaning'], ends),
  ])
}

function sectionOf(command: Program, parent: string): readonly string[] {
  const name = `${parent} ${command.name()}`
  const rows = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description }) => [code(flags), description])
  const words = command.registeredArguments.map((argument) => [
    code(argument.name()),
    argument.description,
  ])
  return [
    `## ${name}`,
    '',
    `${sentence(command.description())} \`${name} ${command.usage()}\``,
    '',
    ...(words.length === 0 ? [] : [...table(['argument', 'meaning'], words), '']),
    ...(rows.length === 0 ? [] : [...table(['option', 'meaning'], rows), '']),
    ...command.commands.flatMap((each) => sectionOf(each, name)),
  ]
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
