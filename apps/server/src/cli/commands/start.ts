/** `tutti start`: the server. */
import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

const ENVIRONMENT = `
It is configured by tutti.config.ts in the working directory and by the environment:
  HOST            address to listen on (127.0.0.1)
  PORT            port to listen on, 0 for any free one (7329)
  TUTTI_CONFIG    path of the config file (tutti.config.ts)
  TUTTI_DATA_DIR  directory of the embedded store (.tutti)
  TUTTI_SQLITE_SYNC
                  full: what is answered is on disk; normal: faster, but a power cut takes the last
                  moments (full)
  DATABASE_URL    postgres://user:password@host:5432/database instead of the embedded store
  DATABASE_LISTEN_URL
                  the same database without a pooler, when DATABASE_URL leads to one
  TUTTI_ROLE      what this process does (all): all, api takes and shows runs, worker executes them;
                  api and worker need DATABASE_URL
  TUTTI_API_KEYS  keys that requests must carry, separated by commas: KEY, NAME:KEY or
                  NAME:SCOPE+SCOPE:KEY; in place of a key its hash, as sha256:HEX
  TUTTI_MODEL     model of the sample ensemble, such as openai:gpt-5-mini
  ANTHROPIC_API_KEY, OPENAI_API_KEY and the other variables of the providers`

/** Adds the command. */
export function addStartCommand(program: Command, context: CommandContext): void {
  program
    .command('start')
    .description('start the server')
    .addHelpText('after', ENVIRONMENT)
    .action(async () => {
      const { serve } = await import('../../serve.ts')
      if (!(await serve(context.io))) context.exit = 'FAILED'
    })
}
