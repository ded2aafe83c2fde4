/** Composes a server from its config and environment, and starts it. */
import { setTimeout as wait } from 'node:timers/promises'

import { systemClock, toolCatalog, TuttiError, type Logger, type ToolCatalog } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { agentEnsemble } from '@tutti/compat-agentensemble'
import { jamJet } from '@tutti/compat-jamjet'
import {
  createCallbackUrls,
  serveControlApi,
  serverMetrics,
  type ControlApiOptions,
  type ControlApiServer,
} from '@tutti/control-api'
import {
  cancelOrphans,
  OrphanWatch,
  redactor,
  scheduleAuthorizer,
} from '@tutti/control-api/internal'
import { modelCatalog, type ModelCatalog } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { findUnknownTiers, isSameTier } from '@tutti/ensemble/internal'
import { langchainModel } from '@tutti/langchain'
import { suggest } from '@tutti/protocol/internal'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'

import { accessOptions, assertSafeAddress } from './access.ts'
import { findDashboard } from './find-dashboard.ts'
import { openStorage } from './open-storage.ts'
import { programVersion } from '../program-version.ts'
import { pricesFor } from '../prices.ts'
import { runLogListeners } from '../log/run-log.ts'
import { listServerSecrets } from './list-secrets.ts'
import { createTracing } from './telemetry.ts'

import type { LimitsConfig, TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'
import type { RunStorage } from '@tutti/runs/adapter'
import type { RunTracing } from '@tutti/telemetry'
import type { TracedServiceOptions } from '@tutti/telemetry/internal'

/** A server that accepts requests. */
export interface RunningServer {
  /** Address of the server, such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Ids of the runs that an earlier process executed or had queued, and this one resumes. */
  readonly resumed: readonly string[]
  /**
   * Stops the server: it accepts no new runs, and lets running ones end or be handed over within the drain time. It
   * resolves at most two seconds after that time, even if the store is unreachable.
   */
  stop(): Promise<void>
  /** Resolves when the server has stopped, for any reason. */
  readonly stopped: Promise<void>
}

/** Time for running runs when the server stops, in milliseconds: supervisors usually wait 10 to 30 s. */
const DEFAULT_DRAIN_TIMEOUT_MS = 10_000

/** Time after that for releasing the other runs, and for sending the last traces, in milliseconds. */
const RELEASE_MS = 1_000

/**
 * Starts a server.
 *
 * @throws {TuttiError} CONFIG_INVALID, STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE; no resource
 * is left open.
 */
export async function startServer(
  config: TuttiConfig,
  environment: Environment,
  logger: Logger,
): Promise<RunningServer> {
  assertSafeAddress(config, environment)
  const { ensembles, limits: { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS } = {} } = config
  const tools = toolCatalog(config.tools ?? [])
  const models = modelCatalog(toModels(config.models ?? {}), { tiers: config.modelTiers ?? {} })
  assertShared(config, { tools, models })
  assertTiers(config, models)
  const executes = environment.role !== 'api'
  const prices = executes ? await pricesFor(ensembles, models.models.values()) : undefined
  const secrets = redactor(listServerSecrets(config, environment))
  const metrics = serverMetrics({ version: programVersion(), role: environment.role })
  const { onActivity, onExecuted } = runLogListeners(logger)
  const orphans = new OrphanWatch()
  const listeners = [...metrics.runs.onActivity, ...onActivity, orphans.onActivity]
  const tracing = await createTracing(config, environment, { models, logger })
  const traced: TracedServiceOptions | undefined = tracing?.service((query) =>
    runs.readEvents(query),
  )
  const storage = metrics.measured(await openStorage(environment, logger))
  const runs: RunService = await createOrClose(storage, () =>
    createRunService(storage, ensembles, {
      ...selectRunLimits(config.limits),
      executes,
      resumePolicy: environment.resumePolicy,
      compatibleBuilds: environment.compatibleBuilds,
      buildShare: environment.buildShare,
      ...(environment.buildId === undefined ? {} : { buildId: environment.buildId }),
      ...scheduleOptions(config, environment, () => runs),
      tools,
      models,
      profiles: config.profiles ?? {},
      ...configuredOptions(config, environment, storage),
      logger,
      redact: (event) => secrets.value(event),
      toolMetrics: metrics.runs.toolMetrics,
      onActivity: [...listeners, ...toList(traced?.onActivity)],
      onExecuted: [...metrics.runs.onExecuted, ...onExecuted, ...toList(traced?.onExecuted)],
      ...(traced === undefined ? {} : { traceNewRun: traced.traceNewRun }),
      ...(prices === undefined ? {} : { prices }),
    }),
  )
  const parts = { runs, logger, orphans }
  const openedAt = runs.clock.now()
  const api = await createOrClose(storage, () =>
    serveControlApi(
      {
        ...accessOptions(config, environment),
        ...selectApiLimits(config.limits),
        extensions: [agentEnsemble({ maxTraceBytes: config.limits?.maxTraceBytes }), jamJet()],
        runs,
        tools,
        models,
        logger,
        metrics,
        redactor: secrets,
        surface: environment.role === 'worker' ? 'health' : 'all',
        dashboard: findDashboard(config, environment, { logger }),
        drain: () => void stop(),
      },
      environment,
    ),
  )
  const stopped = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= stopServer({ ...parts, api, tracing, drainTimeoutMs }).finally(stopped.resolve)
    return stopping
  }
  try {
    const resumed = await startRuns(parts, { openedAt, isShared: storage.isShared })
    return { url: api.url, resumed, stop, stopped: stopped.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns the options of a run service that define schedules, and check the rights of their keys. */
function scheduleOptions(
  config: TuttiConfig,
  environment: Environment,
  findRuns: () => RunService,
): Pick<RunServiceOptions, 'schedules' | 'authorizeSchedule'> {
  const { apiKeys, webhooks } = accessOptions(config, environment)
  return {
    ...(config.schedules === undefined ? {} : { schedules: config.schedules }),
    authorizeSchedule: scheduleAuthorizer({
      ...(apiKeys === undefined ? {} : { apiKeys }),
      ...(webhooks === undefined ? {} : { webhooks }),
      clock: systemClock,
      runs: findRuns,
    }),
  }
}

/** Returns the defaults of reviews, and how handlers get callback URLs, if the server has a public URL. */
function configuredOptions(
  { reviews, publicUrl }: Pick<TuttiConfig, 'reviews' | 'publicUrl'>,
  { ticketSecret }: Pick<Environment, 'ticketSecret'>,
  storage: Pick<RunStorage, 'secrets'>,
): Pick<RunServiceOptions, 'reviews' | 'callbackUrl'> {
  return {
    ...(reviews === undefined ? {} : { reviews }),
    ...(publicUrl === undefined
      ? {}
      : { callbackUrl: createCallbackUrls({ storage, publicUrl, ticketSecret }) }),
  }
}

/** A run service, and the watch over the clients of its runs. */
interface ServedRuns {
  readonly runs: RunService
  readonly orphans: OrphanWatch
  readonly logger: Logger
}

/** Starts to execute runs. Returns the ids of the runs that an earlier process executed or had queued. */
async function startRuns(
  { runs, orphans, logger }: ServedRuns,
  { openedAt, isShared }: { readonly openedAt: number; readonly isShared: boolean },
): Promise<readonly string[]> {
  const runIds = await runs.start()
  void cancelOrphans({ runs, logger }, { runIds, before: openedAt })
  if (isShared) orphans.start({ runs, logger })
  return runIds
}

interface StopParts extends ServedRuns {
  readonly api: ControlApiServer
  readonly tracing: RunTracing | undefined
  readonly drainTimeoutMs: number
}

async function stopServer(parts: StopParts): Promise<void> {
  const { runs, api, tracing, logger, drainTimeoutMs, orphans } = parts
  orphans.stop()
  if (drainTimeoutMs > 0) logger.info('Draining', { runs: runs.status.running, drainTimeoutMs })
  const closed = runs.close({ drainTimeoutMs }).catch((error: unknown) => {
    logger.warn('Failed to close the run store', { error })
  })
  // Earlier actions must be in the audit trail before the store is closed.
  void api.flush()
  const deadline = wait(drainTimeoutMs + RELEASE_MS, LATE, { ref: false })
  if ((await Promise.race([closed, deadline])) === LATE) {
    logger.warn('Timed out releasing runs on shutdown')
  }
  // Spans that the collector does not receive in this time are lost, like those of a killed process.
  const sent = tracing?.shutdown().catch(() => undefined)
  await Promise.race([Promise.all([api.close(), sent]), wait(RELEASE_MS, LATE, { ref: false })])
  if (drainTimeoutMs > 0) logger.info('Stopped')
}

function toList<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}

/** Limits that the control API enforces. */
const API_LIMITS = [
  'maxBodyBytes',
  'maxToolCalls',
  'maxAuditEntries',
  'maxConnections',
  'maxConnectionsPerAddress',
  'maxSockets',
  'maxUnreadBytes',
] as const satisfies readonly (keyof LimitsConfig & keyof ControlApiOptions)[]

type ApiLimit = (typeof API_LIMITS)[number]

function selectApiLimits(limits: LimitsConfig = {}): Pick<LimitsConfig, ApiLimit> {
  const given = API_LIMITS.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, limits[name]]))
}

/** Selects the limits that the run service enforces. */
function selectRunLimits(
  limits: LimitsConfig = {},
): Omit<LimitsConfig, ApiLimit | 'maxTraceBytes' | 'drainTimeoutMs'> {
  const others: readonly string[] = [...API_LIMITS, 'maxTraceBytes', 'drainTimeoutMs']
  const entries = Object.entries(limits)
  return Object.fromEntries(
    entries.filter(([name, value]) => !others.includes(name) && value !== undefined),
  )
}

function assertShared(
  { ensembles, shared = {} }: TuttiConfig,
  { tools, models }: { readonly tools: ToolCatalog; readonly models: ModelCatalog },
): void {
  const unknown = (what: string, names: readonly string[] = [], known: readonly string[]) =>
    names
      .filter((name) => !known.includes(name))
      .map((name) => `Unknown ${what} '${name}' in "shared". Available: [${known.join(', ')}]`)
  const problems = [
    ...unknown(
      'ensemble',
      shared.ensembles,
      ensembles.map(({ name }) => name),
    ),
    ...unknown(
      'tool',
      shared.tools,
      tools.tools.map(({ name }) => name),
    ),
    ...unknown('model', shared.models, [...models.models.keys()]),
    ...unknown('ensemble or model', shared.ignoreSampling, [
      ...ensembles.map(({ name }) => name),
      ...models.models.keys(),
    ]),
  ]
  if (problems.length > 0) throw new TuttiError('CONFIG_INVALID', problems.join('; '))
}

/** @throws {TuttiError} CONFIG_INVALID, naming the rules and profiles with an unknown tier. */
function assertTiers({ ensembles, profiles = {} }: TuttiConfig, models: ModelCatalog): void {
  const ofRules = ensembles.flatMap((ensemble) =>
    findUnknownTiers(ensemble, models).map((problem) => `Ensemble "${ensemble.name}": ${problem}`),
  )
  const known = ['primary', 'fallback', ...models.tiers.keys()]
  const ofProfiles = Object.entries(profiles)
    .filter(([, { modelTier }]) => !known.some((tier) => isSameTier(tier, modelTier)))
    .map(([name, { modelTier }]) => {
      const near = suggest(modelTier, known)
      const hint = near === undefined ? '' : `. Did you mean '${near}'?`
      const list = known.join(', ')
      return `Unknown tier '${modelTier}' in profile "${name}". Available: [${list}]${hint}`
    })
  const problems = [...ofRules, ...ofProfiles]
  if (problems.length > 0) throw new TuttiError('CONFIG_INVALID', problems.join('; '))
}

const LATE = Symbol('late')

/** Returns the result of `create`. Closes `storage` when it fails, and reports a limit that is out of range as CONFIG_INVALID. */
async function createOrClose<T>(
  storage: AsyncDisposable,
  create: () => T | Promise<T>,
): Promise<T> {
  try {
    return await create()
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    if (!(error instanceof RangeError)) throw error
    throw new TuttiError('CONFIG_INVALID', errorMessage(error), { cause: error })
  }
}

function toModels(
  models: Readonly<Record<string, ChatModel | string>>,
): Readonly<Record<string, ChatModel>> {
  return Object.fromEntries(
    Object.entries(models).map(([alias, model]) => [
      alias,
      typeof model === 'string' ? langchainModel(model) : model,
    ]),
  )
}
