/**
 * Reads a command line and does what it says. A command is a file of `commands/`, which adds itself to the program;
 * what is heavy it imports when it runs.
 */
import { CommanderError } from 'commander'

import { tellingOf } from './command-error.ts'
import { EXIT_CODES, type Exit } from './exit-codes.ts'
import { toTerminalText } from './live/text-width.ts'
import { tuttiProgram } from './program.ts'
import { DEFAULT_URL } from './target.ts'

import type { CommandContext } from './command-context.ts'
import type { CommandIo } from './command-io.ts'

/** Runs `tutti <words>`: how it ended. Never throws. */
export async function runCommand(words: readonly string[], io: CommandIo): Promise<Exit> {
  const context: CommandContext = { io, exit: 'OK', url: DEFAULT_URL }
  try {
    await tuttiProgram(context).parseAsync(words, { from: 'user' })
    return context.exit
  } catch (error) {
    // Commander has said by itself what is wrong, or has shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 'OK' : 'USAGE'
    const { exit, message, advice } = tellingOf(error, context.url)
    io.stderr.write(toTerminalText([message, ...advice, ''].join('\n')))
    return exit
  }
}

/** Ends this process as the command has ended. */
export function leave(exit: Exit): void {
  process.exitCode = EXIT_CODES[exit].code
}
