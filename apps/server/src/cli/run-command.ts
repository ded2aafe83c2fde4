/**
 * Parses a command line and runs the command. The files of `commands/` add the commands to the program, and import
 * the implementations only when they run.
 */
import { CommanderError, type Command } from 'commander'

import { toFailureReport } from './command-error.ts'
import { EXIT_CODES, type Exit } from './exit-codes.ts'
import { toTerminalText } from '../terminal/text-width.ts'
import { createProgram } from './program.ts'
import { DEFAULT_URL } from './target.ts'

import type { CommandContext } from './command-context.ts'
import type { CommandIo } from '../terminal/command-io.ts'

/** Runs `tutti` with these arguments and returns the outcome. Never throws. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<Exit> {
  const context: CommandContext = { io, exit: 'OK', url: DEFAULT_URL }
  try {
    const program = createProgram(context)
    await program.parseAsync(namesUnknownCommand(program, args) ? args.slice(1) : args, {
      from: 'user',
    })
    return context.exit
  } catch (error) {
    // Commander has already printed the problem, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 'OK' : 'USAGE'
    const { exit, message, advice } = toFailureReport(error, context.url)
    io.stderr.write(toTerminalText([message, ...advice, ''].join('\n')))
    return exit
  }
}

/** Whether `help` is asked about a command that does not exist; commander would print the general help. */
function namesUnknownCommand(program: Command, [first, second]: readonly string[]): boolean {
  return (
    first === 'help' &&
    second !== undefined &&
    !second.startsWith('-') &&
    !['help', ...program.commands.map((command) => command.name())].includes(second)
  )
}

/** Sets the exit code of this process to that of the outcome. */
export function setExitCode(exit: Exit): void {
  process.exitCode = EXIT_CODES[exit].code
}
