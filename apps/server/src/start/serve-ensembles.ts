/** The part of `serve()` that is built with the program, because it needs the whole server. */
import { redactor } from '@tutti/control-api/internal'
import { TuttiError } from '@tutti/core'
import { assertKnownOptions, definitionError, type OptionNames } from '@tutti/core/internal'

import { consoleLogger } from '../log/console-log.ts'
import { findConfigProblems } from '../config/config-problems.ts'
import { readEnvironment, VARIABLES } from '../environment/env.ts'
import { atLevel } from '../log/log.ts'
import { startReporting } from './serve-process.ts'

import type { Ensemble } from '@tutti/ensemble'
import type { EnsembleServer, ServeOptions } from './serve-options.ts'

const OPTION_NAMES = {
  port: true,
  host: true,
  dataDir: true,
  logger: true,
} as const satisfies OptionNames<ServeOptions>

const MAX_PORT = 65_535

/** Validates the options and starts the server. @throws {TypeError} for invalid options. @throws {TuttiError} as `serve()`. */
export async function serveEnsembles(
  given: Ensemble | readonly Ensemble[],
  options: ServeOptions,
): Promise<EnsembleServer> {
  assertKnownOptions('Cannot serve:', options, OPTION_NAMES)
  const { port, host, dataDir, logger } = options
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= MAX_PORT)) {
    throw definitionError(
      `Cannot serve: port must be an integer from 0 to ${MAX_PORT}, got ${JSON.stringify(port)}`,
    )
  }
  const config = { ensembles: [given].flat() }
  const problems = await findConfigProblems(config)
  if (problems.length > 0) {
    throw new TuttiError('CONFIG_INVALID', `Cannot serve: ${problems.join('; ')}`)
  }
  const variables = {
    ...VARIABLES,
    ...(host === undefined ? {} : { HOST: host }),
    ...(port === undefined ? {} : { PORT: port.toString() }),
    ...(dataDir === undefined ? {} : { TUTTI_DATA_DIR: dataDir }),
  }
  const environment = readEnvironment(variables)
  const secrets = redactor(environment.secrets)
  const standardError = consoleLogger({ stderr: process.stderr, variables }, secrets)
  const server = await startReporting(config, environment, {
    variables,
    logger: logger ?? atLevel(standardError, environment.logLevel),
    isDevelopment: false,
  })
  const close = (): Promise<void> => server.stop()
  return { url: server.url, close, [Symbol.asyncDispose]: close }
}
