/** `tutti dev`: the server while its config is written. */
import { Option, type Command } from 'commander'

import { SERVE } from '../dev/dev-messages.ts'
import { serverVariables, withServerOptions, type ServerOptions } from '../server-options.ts'

import type { CommandContext } from '../command-context.ts'

const MORE = `
It starts again when the config file changes, or a file that it imports. Runs that are interrupted go on after
that, and so they do at the next start when Ctrl-C ends it. A .env file in the working directory is read; what is
set already stays.`

interface DevOptions extends ServerOptions {
  /** Whether this is the server process that `tutti dev` has started. */
  readonly serve?: boolean
}

/** Adds the command. */
export function addDevCommand(program: Command, context: CommandContext): void {
  const dev = program
    .command('dev')
    .description('start the server, and again whenever its config changes')
    .argument('[config]', 'config file, as --config says it')
    .addOption(new Option(SERVE).hideHelp())
    .addHelpText('after', MORE)
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
