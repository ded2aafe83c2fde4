/** The server as a process: starts it from its config and environment, reports its start, and stops it on signals. */
import { redactor, type Redactor } from '@tutti/control-api/internal'
import { TuttiError, type Logger } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { defaultRetainedRuns } from '@tutti/runs/internal'

import { readEnvironment, type Environment } from '../environment/env.ts'
import { collectOnce, limitMemory } from './limit-memory.ts'
import { loadConfig } from '../config/load-config.ts'
import { checkBudgets, checkModels, checkVariables } from '../checks/check-config.ts'
import { consoleLogger } from '../log/console-log.ts'
import { atLevel } from '../log/log.ts'
import { toTerminalText } from '../terminal/text-width.ts'
import { ONE_SIGNAL_MS } from '../terminal/signal-inbox.ts'
import { listModels } from '../prices.ts'
import { sampleConfig, sampleNotice } from '../sample/sample-config.ts'
import { listServerSecrets } from './list-secrets.ts'
import { startServer, type RunningServer } from './start-server.ts'
import { watchParent } from './watch-parent.ts'

import type { CommandIo } from '../terminal/command-io.ts'
import type { TuttiConfig } from '../config/config.ts'
import type { ProcessVariables } from '../environment/env-table.ts'

/**
 * Starts a server that lives as long as the process. Returns true when it accepts requests, and false when it could not
 * start; then the reason is on standard error.
 */
export async function serveProcess({
  stdout,
  stderr,
  variables,
}: Pick<CommandIo, 'stdout' | 'stderr' | 'variables'>): Promise<boolean> {
  const opened = await openConfiguredServer(variables, {
    createLogger: (secrets) => consoleLogger({ stderr, variables }, secrets),
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

/** Options of `openConfiguredServer`. */
export interface OpenOptions {
  /** Creates the log, which redacts `secrets`. */
  readonly createLogger: (secrets: Redactor) => Logger
  /** Called with a description of what is served when there is no config file. */
  readonly onNotice: (notice: string) => void
  /** Time that the server waits for running runs when it stops, in milliseconds. @default the value of the config */
  readonly drainTimeoutMs?: number
  /** Whether the server starts again at each change of a file, so that notes about its limits would repeat. @default false */
  readonly isDevelopment?: boolean
}

/** Result of a start. */
export type OpenResult = OpenedServer | FailedStart

/** A server that accepts requests. */
export interface OpenedServer {
  readonly ok: true
  readonly server: RunningServer
  readonly environment: Environment
  /** Whether the server shows the dashboard to browsers. */
  readonly hasDashboard: boolean
}

export interface FailedStart {
  readonly ok: false
  /** Reason for people, without secrets. */
  readonly message: string
  readonly error: unknown
}

/** Starts a server from environment variables and the config file that they name. Never throws. */
export async function openConfiguredServer(
  variables: ProcessVariables,
  { createLogger, onNotice, drainTimeoutMs, isDevelopment = false }: OpenOptions,
): Promise<OpenResult> {
  limitMemory()
  let secrets = redactor([])
  try {
    const environment = readEnvironment(variables)
    secrets = redactor(environment.secrets)
    const loaded = await loadConfig(environment.configPath)
    if (loaded === undefined) onNotice(sampleNotice(environment))
    const config = loaded?.config ?? sampleConfig(environment)
    secrets = redactor(listServerSecrets(config, environment))
    const logger = atLevel(createLogger(secrets), environment.logLevel)
    process.on('unhandledRejection', (error) => {
      logger.error('Unhandled promise rejection', { error })
    })
    const server = await startReporting(withDrainTimeout(config, drainTimeoutMs), environment, {
      variables,
      logger,
      isDevelopment,
    })
    const hasDashboard = environment.role !== 'worker' && config.dashboard !== false
    return { ok: true, server, environment, hasDashboard }
  } catch (error) {
    const expected = TuttiError.isInstance(error)
    const message = secrets.text(expected ? errorMessage(error) : formatStack(error))
    return { ok: false, message, error }
  }
}

/**
 * Starts a server, and logs its warnings and the runs that it resumes.
 *
 * @throws {TuttiError} as `startServer` does.
 */
export async function startReporting(
  config: TuttiConfig,
  environment: Environment,
  { variables, logger, isDevelopment }: ReportOptions,
): Promise<RunningServer> {
  const server = await startServer(config, environment, logger)
  if (!isDevelopment) {
    logRetention(config, { isShared: environment.databaseUrl !== undefined, logger })
  }
  await logWarnings(config, { variables, logger })
  if (server.resumed.length > 0) {
    logger.info('Resuming interrupted runs', { runIds: server.resumed })
  }
  return server
}

interface ReportOptions extends Required<Pick<OpenOptions, 'isDevelopment'>> {
  readonly variables: ProcessVariables
  readonly logger: Logger
}

/** Logs the warnings of `tutti doctor` that would make the first run fail, but not the start. */
async function logWarnings(
  config: TuttiConfig,
  { variables, logger }: { readonly variables: ProcessVariables; readonly logger: Logger },
): Promise<void> {
  const findings = [
    ...checkVariables(variables),
    ...(config.ensembles.some((one) => listModels(one).length > 0)
      ? checkModels(config, { variables })
      : []),
    ...(await checkBudgets(config)),
  ]
  for (const { level, check, message, advice } of findings) {
    if (level !== 'ok') logger.warn(message, { check, advice })
  }
}

/** Logs that old runs, or their steps, are deleted, as operators must not be surprised by that. */
function logRetention(
  { limits = {} }: TuttiConfig,
  { isShared, logger }: { readonly isShared: boolean; readonly logger: Logger },
): void {
  const { maxRetainedRuns = defaultRetainedRuns(isShared), maxRetainedAgeMs = Infinity } = limits
  const { maxRetainedStepsMs = Infinity } = limits
  if (maxRetainedStepsMs !== Infinity) {
    logger.info('Old steps of ended runs are deleted', { maxRetainedStepsMs })
  }
  if (maxRetainedRuns === Infinity && maxRetainedAgeMs === Infinity) return
  logger.info('Old ended runs are deleted', {
    ...(maxRetainedRuns === Infinity ? {} : { maxRetainedRuns }),
    ...(maxRetainedAgeMs === Infinity ? {} : { maxRetainedAgeMs }),
    advice: 'Set limits.maxRetainedRuns and limits.maxRetainedAgeMs; Infinity retains all runs',
  })
}

function withDrainTimeout(config: TuttiConfig, drainTimeoutMs: number | undefined): TuttiConfig {
  if (drainTimeoutMs === undefined) return config
  return { ...config, limits: { ...config.limits, drainTimeoutMs } }
}

function stopOnSignals(server: RunningServer, variables: ProcessVariables): void {
  let stoppingSince: number | undefined
  const stop = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      void server.stop()
    } else if (performance.now() - stoppingSince > ONE_SIGNAL_MS) {
      // The second signal exits at once.
      process.exit(1)
    }
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', stop)
  const unwatch = watchParent(variables, stop)
  void server.stopped.then(unwatch)
}

/** Time that a stopped process has to exit before it is killed, in milliseconds. */
const LINGER_MS = 500

/** Ends the process even if something, such as a lost database connection, still holds it. */
function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

function formatStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
