/** The commands of `tutti`, as commander knows them. */
import { Command } from 'commander'

import { CLIENT_VARIABLES, variableHelp } from '../environment/env-table.ts'
import {
  addCancelCommand,
  addDeleteCommand,
  addInjectCommand,
  addModelCommand,
} from './commands/act.ts'
import { addDevCommand, addDoctorCommand, addStartCommand } from './commands/serve.ts'
import { addEventsCommand, addExportCommand, addRunsCommand } from './commands/show.ts'
import { addReviewCommand } from './commands/review.ts'
import { addRunCommand, addWatchCommand } from './commands/follow.ts'
import { addToolsCommand } from './commands/tools.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { programVersion } from './program-version.ts'

import type { CommandContext } from './command-context.ts'

/** Every command, in the order of the help. */
const COMMANDS = [
  addDevCommand,
  addStartCommand,
  addRunCommand,
  addWatchCommand,
  addRunsCommand,
  addEventsCommand,
  addExportCommand,
  addInjectCommand,
  addModelCommand,
  addCancelCommand,
  addDeleteCommand,
  addReviewCommand,
  addToolsCommand,
  addDoctorCommand,
]

/** The program: it writes to the streams of `context`, and throws where commander would end the process. */
export function tuttiProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.io
  const program = new Command('tutti')
    .description('Teams of LLM agents: run their server, and start, watch and steer runs')
    .version(programVersion(), '-V, --version', 'show the version')
    .showHelpAfterError('Help: tutti --help, or tutti <command> --help')
    // What comes after the name of a command is its own, also where its parent has an option of that name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .addHelpText('after', `\nEnvironment:\n${variableHelp(CLIENT_VARIABLES)}`)
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
