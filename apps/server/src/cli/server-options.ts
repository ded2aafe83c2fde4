/** Options of the commands that start a server. They take precedence over the environment. */
import { Option, type Command } from 'commander'

import {
  SERVER_VARIABLES,
  formatVariableHelp,
  type ProcessVariables,
} from '../environment/env-table.ts'
import { parsePort } from './option-values.ts'

/** Values of the options. */
export interface ServerOptions {
  readonly host?: string
  readonly port?: string
  readonly config?: string
}

/** Adds the options to a command, and the environment variables to its help. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '-p, --port <port>',
        'port to listen on; 0 selects a free one (default: PORT, or 7329)',
      ).argParser(parsePort),
    )
    .option('--host <address>', 'address to listen on (default: HOST, or 127.0.0.1)')
    .option('-c, --config <file>', 'config file (default: TUTTI_CONFIG, or tutti.config.ts)')
    .addHelpText('after', ENVIRONMENT)
}

/** Returns the environment with the values of the options. */
export function serverVariables(
  { host, port, config }: ServerOptions,
  variables: ProcessVariables,
): ProcessVariables {
  const given = { HOST: host, PORT: port, TUTTI_CONFIG: config }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...variables, ...Object.fromEntries(set) }
}

const ENVIRONMENT = `
Environment variables (options take precedence; tutti.config.ts configures what is served):
${formatVariableHelp(SERVER_VARIABLES)}`
