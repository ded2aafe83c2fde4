/** The commands that serve: `tutti start`, `tutti dev`, and `tutti doctor`, which checks whether a server would work. */
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
It starts again when the config file changes, or a file that it imports. Runs that are interrupted go on after
that, and so they do at the next start when Ctrl-C ends it. A .env file in the working directory is read; what is
set already stays.`

interface DevOptions extends ServerOptions {
  /** Whether this is the server process that `tutti dev` has started. */
  readonly serve?: boolean
}

/** Adds `tutti dev`. */
export function addDevCommand(program: Command, context: CommandContext): void {
  const dev = program
    .command('dev')
    .description('start the server, and again whenever its config changes')
    .argument('[config]', 'config file, as --config says it')
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
    const said = config === undefined ? options : { config, ...options }
    context.exit = await runDev({ ...io, variables: serverVariables(said, io.variables) })
  })
}

/** How long what a config file has opened may keep the process, in milliseconds. */
const LINGER_MS = 500

interface DoctorOptions extends TargetOptions, ServerOptions {
  readonly json?: boolean
}

/** Adds `tutti doctor`. */
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
