/** The server that a command talks to: `--url` and `--api-key`, or `TUTTI_URL` and `TUTTI_API_KEY`. */
import { createClient, type TuttiClient } from '@tutti/client'

import { readClientEnvironment } from '../environment/env.ts'
import { CommandError } from './command-error.ts'

import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

/** Options of every command that talks to a server. */
export interface TargetOptions {
  readonly url?: string
  readonly apiKey?: string
}

/** Where `tutti dev` and `tutti start` listen when nobody says otherwise. */
export const DEFAULT_URL = 'http://127.0.0.1:7329'

/** Adds the options to a command. */
export function withTarget(command: Command): Command {
  return (
    command
      .option('-u, --url <url>', `address of the server (TUTTI_URL, or ${DEFAULT_URL})`)
      // Its value is a secret, and what stands on a command line is seen by everybody on the machine.
      .option('--api-key <key>', 'key of the server; better in the variable TUTTI_API_KEY')
  )
}

/**
 * A client for the server that the options name.
 *
 * @throws {CommandError} USAGE when the address is none.
 */
export function connectTo(options: TargetOptions, context: CommandContext): TuttiClient {
  const environment = readClientEnvironment(context.io.variables)
  const url = options.url ?? environment.url ?? DEFAULT_URL
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    const where = options.url === undefined ? 'TUTTI_URL' : '--url'
    throw new CommandError('USAGE', `${where} must be an http or https address, got "${url}"`)
  }
  context.url = url
  return createClient({ baseUrl: url, apiKey: options.apiKey ?? environment.apiKey })
}
