/** The command line of `tutti`, built with commander. */
import { Command } from 'commander'

import { CLIENT_VARIABLES, formatVariableHelp } from '../environment/env-table.ts'
import {
  addCommandVerbs,
  addDeleteCommand,
  addForkCommand,
  addMigrateCommand,
  addReplayCommand,
} from './commands/act.ts'
import { addBuildsCommand } from './commands/builds.ts'
import { addDeliverCommand } from './commands/deliver.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addDevCommand, addDoctorCommand, addStartCommand } from './commands/serve.ts'
import {
  addDiffCommand,
  addEventsCommand,
  addExportCommand,
  addRunsCommand,
} from './commands/show.ts'
import { addSchedulesCommand } from './commands/schedules.ts'
import { addRunCommand, addWatchCommand } from './commands/follow.ts'
import { addToolsCommand } from './commands/tools.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { programVersion } from '../program-version.ts'

import type { CommandContext } from './command-context.ts'

/** All commands, in the order of the help. */
const COMMANDS = [
  addDevCommand,
  addStartCommand,
  addRunCommand,
  addWatchCommand,
  addRunsCommand,
  addDiffCommand,
  addEventsCommand,
  addExportCommand,
  addCommandVerbs,
  addForkCommand,
  addReplayCommand,
  addMigrateCommand,
  addBuildsCommand,
  addDeliverCommand,
  addSchedulesCommand,
  addDeleteCommand,
  addToolsCommand,
  addDoctorCommand,
  addCompletionCommand,
]

/** Builds the program. It writes to the streams of `context`, and throws where commander would end the process. */
export function createProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.io
  const program = new Command('tutti')
    .description('Serve teams of LLM agents, and start, follow and steer their runs')
    .version(programVersion(), '-V, --version', 'display the version')
    .showHelpAfterError('For help: tutti --help, or tutti <command> --help')
    // Options after the name of a command belong to it, even if its parent has an option of the same name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .addHelpText('after', `\nEnvironment:\n${formatVariableHelp(CLIENT_VARIABLES)}`)
    .addHelpText('after', formatExitCodeHelp())
  // Commands inherit the output and exit settings of the program, so these come first.
  for (const add of COMMANDS) add(program, context)
  return program
}

function formatExitCodeHelp(): string {
  const lines = Object.values(EXIT_CODES).map(
    ({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`,
  )
  return `\nExit codes:\n${lines.join('\n')}`
}
