/** Options of the commands that serve. They win over the environment, which says the same and more. */
import { Option, type Command } from 'commander'

import { SERVER_VARIABLES, variableHelp } from '../environment/env-table.ts'
import { parsePort } from './option-values.ts'

/** What the options say. */
export interface ServerOptions {
  readonly host?: string
  readonly port?: string
  readonly config?: string
}

/** Adds them. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '-p, --port <port>',
        'port to listen on, 0 for any free one (PORT, or 7329)',
      ).argParser(parsePort),
    )
    .option('--host <address>', 'address to listen on (HOST, or 127.0.0.1)')
    .option('-c, --config <file>', 'config file (TUTTI_CONFIG, or tutti.config.ts)')
    .addHelpText('after', ENVIRONMENT)
}

/** The environment with what the options say. */
export function serverVariables(
  { host, port, config }: ServerOptions,
  variables: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const given = { HOST: host, PORT: port, TUTTI_CONFIG: config }
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...variables, ...Object.fromEntries(said) }
}

const ENVIRONMENT = `
What an option does not say is said by the environment, and tutti.config.ts says what is served:
${variableHelp(SERVER_VARIABLES)}`
