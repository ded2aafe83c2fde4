/** The server as a program: from its config and environment to the line that says that it is ready, and its end. */
import { redactor, type Redactor } from '@tutti/control-api'
import { errorMessage, TuttiError, type Logger } from '@tutti/core'

import { readEnvironment, type Environment } from '../environment/env.ts'
import { collectOnce, limitMemory } from './limit-memory.ts'
import { loadConfig } from '../config/load-config.ts'
import { checkBudgets, checkModels, checkVariables } from '../cli/doctor/check-config.ts'
import { consoleLogger } from '../log/console-log.ts'
import { atLevel } from '../log/log.ts'
import { toTerminalText } from '../cli/live/text-width.ts'
import { ONE_SIGNAL_MS } from '../cli/live/signal-inbox.ts'
import { modelsOf } from './prices.ts'
import { sampleConfig, sampleNotice } from '../sample/sample-config.ts'
import { secretsOf } from './secrets-of.ts'
import { startServer, type RunningServer } from './start-server.ts'
import { watchParent } from './watch-parent.ts'

import type { CommandIo } from '../cli/command-io.ts'
import type { TuttiConfig } from '../config/config.ts'

/**
 * Starts a server and returns when it accepts requests; the process then lives as long as it. False when it could not
 * start, and why is on standard error.
 */
export async function serveProcess({
  stdout,
  stderr,
  variables,
}: Pick<CommandIo, 'stdout' | 'stderr' | 'variables'>): Promise<boolean> {
  const opened = await openConfiguredServer(variables, {
    loggerOf: (secrets) => consoleLogger({ stderr, variables }, secrets),
    onNotice: (notice) => stdout.write(notice),
  })
  if (!opened.ok) {
    stderr.write(`${toTerminalText(opened.message)}\n`)
    return false
  }
  const { server } = opened
  stopOnSignals(server, variables)
  void server.stopped.then(exitSoon)
  stdout.write(`Tutti ready on ${server.url}\n`)
  collectOnce()
  return true
}

/** How a server is opened. */
export interface OpenOptions {
  /** Makes the log, which takes out the secrets that it is given. */
  readonly loggerOf: (secrets: Redactor) => Logger
  /** Told what is served when there is no config file. */
  readonly onNotice: (notice: string) => void
  /** How long the server takes to stop, in milliseconds. @default what the config says */
  readonly drainTimeoutMs?: number
}

/** A server that accepts requests, or why there is none. */
export type OpenResult = OpenedServer | FailedStart

/** A server that accepts requests. */
export interface OpenedServer {
  readonly ok: true
  readonly server: RunningServer
  readonly environment: Environment
  /** Whether browsers get the dashboard at its address. */
  readonly hasDashboard: boolean
}

/** A start that failed. */
export interface FailedStart {
  readonly ok: false
  /** Why, for people, without secrets. */
  readonly message: string
  readonly error: unknown
}

/** Opens a server as the variables and the config that they name say. Never throws. */
export async function openConfiguredServer(
  variables: NodeJS.ProcessEnv,
  { loggerOf, onNotice, drainTimeoutMs }: OpenOptions,
): Promise<OpenResult> {
  limitMemory()
  let secrets = redactor([])
  try {
    const environment = readEnvironment(variables)
    secrets = redactor(environment.secrets)
    const loaded = await loadConfig(environment.configPath)
    if (loaded === undefined) onNotice(sampleNotice(environment))
    const config = loaded?.config ?? sampleConfig(environment)
    secrets = redactor(secretsOf(config, environment))
    const logger = atLevel(loggerOf(secrets), environment.logLevel)
    process.on('unhandledRejection', (error) => {
      logger.error('Unhandled promise rejection', { error })
    })
    const server = await startReporting(drainingWithin(config, drainTimeoutMs), environment, {
      variables,
      logger,
    })
    const hasDashboard = environment.role !== 'worker' && config.dashboard !== false
    return { ok: true, server, environment, hasDashboard }
  } catch (error) {
    const expected = TuttiError.isInstance(error)
    const message = secrets.text(expected ? errorMessage(error) : stackOf(error))
    return { ok: false, message, error }
  }
}

/**
 * Starts a server and logs what its operator should know about it.
 *
 * @throws {TuttiError} as `startServer` does.
 */
export async function startReporting(
  config: TuttiConfig,
  environment: Environment,
  { variables, logger }: { readonly variables: NodeJS.ProcessEnv; readonly logger: Logger },
): Promise<RunningServer> {
  const server = await startServer(config, environment, logger)
  logRetention(config, logger)
  await logWarnings(config, { variables, logger })
  if (server.resumed.length > 0) {
    logger.info('Going on with runs that were cut off', { runIds: server.resumed })
  }
  return server
}

/** Logs what `tutti doctor` would warn of: a start does not fail for it, and the first run would. */
async function logWarnings(
  config: TuttiConfig,
  { variables, logger }: { readonly variables: NodeJS.ProcessEnv; readonly logger: Logger },
): Promise<void> {
  const findings = [
    ...checkVariables(variables),
    ...(config.ensembles.some((one) => modelsOf(one).length > 0)
      ? checkModels(config, { variables })
      : []),
    ...(await checkBudgets(config)),
  ]
  for (const { level, check, message, advice } of findings) {
    if (level !== 'ok') logger.warn(message, { check, advice })
  }
}

/** Deleted history must not come as a surprise. */
function logRetention({ limits = {} }: TuttiConfig, logger: Logger): void {
  const { maxRetainedRuns = Infinity, maxRetainedAgeMs = Infinity } = limits
  if (maxRetainedRuns === Infinity && maxRetainedAgeMs === Infinity) return
  logger.info('Old ended runs are deleted', {
    ...(maxRetainedRuns === Infinity ? {} : { maxRetainedRuns }),
    ...(maxRetainedAgeMs === Infinity ? {} : { maxRetainedAgeMs }),
  })
}

function drainingWithin(config: TuttiConfig, drainTimeoutMs: number | undefined): TuttiConfig {
  if (drainTimeoutMs === undefined) return config
  return { ...config, limits: { ...config.limits, drainTimeoutMs } }
}

function stopOnSignals(server: RunningServer, variables: NodeJS.ProcessEnv): void {
  let stoppingSince: number | undefined
  const stop = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      void server.stop()
    } else if (performance.now() - stoppingSince > ONE_SIGNAL_MS) {
      // Asked again: now.
      process.exit(1)
    }
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', stop)
  const unwatch = watchParent(variables, stop)
  void server.stopped.then(unwatch)
}

/** How long a process that has stopped may take to go by itself. */
const LINGER_MS = 500

/** Ends the process also when something that is out of reach, such as a lost database, still holds it. */
function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
