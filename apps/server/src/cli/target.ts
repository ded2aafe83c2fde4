/** The server that a command calls: `--url` and `--api-key`, or `TUTTI_URL` and `TUTTI_API_KEY`. */
import { createClient, type TuttiClient } from '@tutti/client'

import { readClientEnvironment } from '../environment/env.ts'
import { CommandError } from './command-error.ts'

import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

/** Options of every command that calls a server. */
export interface TargetOptions {
  readonly url?: string
  readonly apiKey?: string
}

/** Address on which `tutti dev` and `tutti start` listen by default. */
export const DEFAULT_URL = 'http://127.0.0.1:7329'

/** Adds the options to a command. */
export function withTarget(command: Command): Command {
  return (
    command
      .option('-u, --url <url>', `address of the server (default: TUTTI_URL, or ${DEFAULT_URL})`)
      // Every user of the machine can see the command line, so the help recommends the variable.
      .option('--api-key <key>', 'key for the server; prefer the variable TUTTI_API_KEY')
  )
}

/**
 * Creates a client for the server that the options name.
 *
 * @throws {CommandError} USAGE when the address is not an http or https URL.
 */
export function connectTo(options: TargetOptions, context: CommandContext): TuttiClient {
  const environment = readClientEnvironment(context.io.variables)
  const url = options.url ?? environment.url ?? DEFAULT_URL
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    const where = options.url === undefined ? 'TUTTI_URL' : '--url'
    throw new CommandError('USAGE', `${where} must be an http or https URL, got "${url}"`)
  }
  context.url = url
  return createClient({ baseUrl: url, apiKey: options.apiKey ?? environment.apiKey })
}
