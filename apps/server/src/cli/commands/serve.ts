/** The commands `tutti start`, `tutti dev` and `tutti doctor`. */
import { Option, type Command } from 'commander'

import { SERVE } from '../dev/dev-messages.ts'
import { serverVariables, withServerOptions, type ServerOptions } from '../server-options.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'

/** Adds `tutti start`. */
export function addStartCommand(program: Command, context: CommandContext): void {
  withServerOptions(program.command('start').description('start the server')).action(
    async (options: ServerOptions) => {
      const { io } = context
      io.outliveReaders?.()
      const { serveProcess } = await import('../../start/serve-process.ts')
      const variables = serverVariables(options, io.variables)
      if (!(await serveProcess({ ...io, variables }))) context.exit = 'FAILED'
    },
  )
}

const DEV_HELP = `
The server restarts when the config file or a file that it imports changes. Interrupted runs continue after the restart,
and after Ctrl-C at the next start. A .env file in the working directory is read; variables that are already set take
precedence.`

interface DevOptions extends ServerOptions {
  /** Whether this is the server process that `tutti dev` has started. */
  readonly serve?: boolean
}

/** Adds `tutti dev`. */
export function addDevCommand(program: Command, context: CommandContext): void {
  const dev = program
    .command('dev')
    .description('start the server, and restart it when its config changes')
    .argument('[config]', 'config file; same as --config')
    .addOption(new Option(SERVE).hideHelp())
    .addHelpText('after', DEV_HELP)
  withServerOptions(dev).action(async (config: string | undefined, options: DevOptions) => {
    const { io } = context
    io.outliveReaders?.()
    if (options.serve === true) {
      const { runDevServer } = await import('../dev/dev-server.ts')
      await runDevServer(io)
      return
    }
    const { runDev } = await import('../dev/run-dev.ts')
    const given = config === undefined ? options : { config, ...options }
    context.exit = await runDev({ ...io, variables: serverVariables(given, io.variables) })
  })
}

/** Time after which the process exits even if the config file left something open, in milliseconds. */
const LINGER_MS = 500

interface DoctorOptions extends TargetOptions, ServerOptions {
  readonly json?: boolean
}

/** Adds `tutti doctor`. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description(
      'check the setup of a server: versions, config, store, port, keys; exits with 1 if there is a problem',
    )
    .option('--json', 'print the findings as one JSON document')
  withServerOptions(withTarget(command)).action(async (options: DoctorOptions) => {
    const { diagnose } = await import('../doctor/diagnose.ts')
    const { io } = context
    // Options take precedence over a .env file, too, so they are set before it is read.
    Object.assign(io.variables, serverVariables(options, {}))
    await diagnose(options, context)
    setTimeout(() => process.exit(), LINGER_MS).unref()
  })
}
