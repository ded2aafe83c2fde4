/** The commands of `tutti`, as commander knows them. */
import { Command } from 'commander'

import { addStartCommand } from './commands/start.ts'
import { EXIT_CODES } from './exit-codes.ts'

import type { CommandContext } from './command-context.ts'

/** Every command, in the order of the help. */
const COMMANDS = [addStartCommand]

/** The program: it writes to the streams of `context`, and throws where commander would end the process. */
export function tuttiProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.io
  const program = new Command('tutti')
    .description('Teams of LLM agents: run their server, and start, watch and steer runs')
    .showHelpAfterError('Help: tutti --help, or tutti <command> --help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .addHelpText('after', exitCodeHelp())
  // A command takes over how its program writes and ends.
  for (const add of COMMANDS) add(program, context)
  return program
}

function exitCodeHelp(): string {
  const lines = Object.values(EXIT_CODES).map(
    ({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`,
  )
  return `\nExit codes:\n${lines.join('\n')}`
}
