/** `tutti start`: the server. */
import { serverVariables, withServerOptions, type ServerOptions } from '../server-options.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

/** Adds the command. */
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
