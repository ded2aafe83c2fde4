/** `tutti doctor`: whether a server would work here, and what to do if not. */
import { serverVariables, withServerOptions, type ServerOptions } from '../server-options.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

/** How long what a config file has opened may keep the process, in milliseconds. */
const LINGER_MS = 500

interface DoctorOptions extends TargetOptions, ServerOptions {
  readonly json?: boolean
}

/** Adds the command. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description(
      'check what a server needs here: versions, config, store, port, keys; ends with 1 on a problem',
    )
    .option('--json', 'the findings, as one JSON document')
  withServerOptions(withTarget(command)).action(async (options: DoctorOptions) => {
    const { diagnose } = await import('../doctor/diagnose.ts')
    const { io } = context
    // What is said here wins over a .env file too, so it is a part of the environment before that is read.
    Object.assign(io.variables, serverVariables(options, {}))
    await diagnose(options, context)
    setTimeout(() => process.exit(), LINGER_MS).unref()
  })
}
