/** Composes a server from its configuration and environment, and runs it. */
import { setTimeout as wait } from 'node:timers/promises'

import {
  errorMessage,
  toolCatalog,
  TuttiError,
  type AgentTool,
  type Logger,
  type ToolCatalog,
} from '@tutti/core'
import {
  redactor,
  serveControlApi,
  serverMetrics,
  type ControlApiOptions,
  type ControlApiServer,
} from '@tutti/control-api'
import {
  findUnknownTiers,
  isSameTier,
  modelCatalog,
  type ChatModel,
  type Ensemble,
  type ModelCatalog,
} from '@tutti/ensemble'
import { langchainModel } from '@tutti/langchain'
import { suggest } from '@tutti/protocol'
import { RunService } from '@tutti/runs'

import { accessOptions, assertSafeAddress } from './access.ts'
import { dashboardOf } from './dashboard-of.ts'
import { openStorage } from './open-storage.ts'
import { programVersion } from '../cli/program-version.ts'
import { pricesFor } from './prices.ts'
import { runLogListeners } from '../log/run-log.ts'
import { secretsOf } from './secrets-of.ts'
import { tracingOf } from './telemetry.ts'

import type { LimitsConfig, TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'
import type { RunTracing, TracedServiceOptions } from '@tutti/telemetry'

/** A server that accepts requests. */
export interface RunningServer {
  /** Such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Runs that an earlier process left unfinished and this one goes on with. */
  readonly resumed: readonly string[]
  /**
   * Takes no new runs, lets running ones end or be handed over within the drain time, and stops. It
   * resolves at most a second after that time, also when the store cannot be reached.
   */
  stop(): Promise<void>
  /** Resolves when it has stopped, whoever asked for it. */
  readonly stopped: Promise<void>
}

/** How long running runs may go on when the server stops: a supervisor usually waits 10 to 30 s. */
const DEFAULT_DRAIN_TIMEOUT_MS = 10_000

/** How long the store may take, after that, to be told what became of the rest. */
const FAREWELL_MS = 1_000

/**
 * Starts a server.
 *
 * @throws {TuttiError} CONFIG_INVALID, STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE; nothing is
 * left open.
 */
export async function startServer(
  config: TuttiConfig,
  environment: Environment,
  logger: Logger,
): Promise<RunningServer> {
  assertSafeAddress(config, environment)
  const { ensembles } = config
  const { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS } = config.limits ?? {}
  const tools = toolCatalog(allTools(ensembles, config.tools ?? []))
  const models = modelCatalog(toModels(config.models ?? {}), { tiers: config.modelTiers ?? {} })
  assertShared(config, tools)
  assertTiers(config, models)
  const executes = environment.role !== 'api'
  const prices = executes ? await pricesFor(ensembles, models.models.values()) : undefined
  const secrets = redactor(secretsOf(config, environment))
  const metrics = serverMetrics({ version: programVersion(), role: environment.role })
  const { onActivity, onExecuted } = runLogListeners(logger)
  const tracing = await tracingOf(config, environment, { models, logger })
  const traced: TracedServiceOptions | undefined = tracing?.service((query) =>
    runs.readEvents(query),
  )
  const storage = metrics.measured(await openStorage(environment, logger))
  const runs = await unlessFailed(
    storage,
    () =>
      new RunService(storage, ensembles, {
        ...runLimits(config.limits),
        ...(config.reviews === undefined ? {} : { reviews: config.reviews }),
        executes,
        tools,
        models,
        profiles: config.profiles ?? {},
        logger,
        redact: (event) => secrets.value(event),
        toolMetrics: metrics.runs.toolMetrics,
        onActivity: [...metrics.runs.onActivity, ...onActivity, ...listed(traced?.onActivity)],
        onExecuted: [...metrics.runs.onExecuted, ...onExecuted, ...listed(traced?.onExecuted)],
        ...(traced === undefined ? {} : { traceNewRun: traced.traceNewRun }),
        ...(prices === undefined ? {} : { prices }),
      }),
  )
  const api = await unlessFailed(storage, () =>
    serveControlApi(
      {
        ...accessOptions(config, environment),
        ...apiLimits(config.limits),
        runs,
        tools,
        models,
        logger,
        metrics,
        redactor: secrets,
        surface: environment.role === 'worker' ? 'health' : 'all',
        dashboard: dashboardOf(config, environment, { logger }),
        drain: () => {
          void stop()
        },
      },
      environment,
    ),
  )
  const stopped = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= stopServer({ runs, api, tracing, logger, drainTimeoutMs }).finally(stopped.resolve)
    return stopping
  }
  try {
    return { url: api.url, resumed: await runs.start(), stop, stopped: stopped.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Stopping {
  readonly runs: RunService
  readonly api: ControlApiServer
  readonly tracing: RunTracing | undefined
  readonly logger: Logger
  readonly drainTimeoutMs: number
}

async function stopServer(stopping: Stopping): Promise<void> {
  const { runs, api, tracing, logger, drainTimeoutMs } = stopping
  if (drainTimeoutMs > 0) logger.info('Draining', { runs: runs.running, drainTimeoutMs })
  const closed = runs.close({ drainTimeoutMs }).catch((error: unknown) => {
    logger.warn('The run store could not be closed', { error })
  })
  // What was done before this is in the audit trail before the store is closed.
  void api.flush()
  const deadline = wait(drainTimeoutMs + FAREWELL_MS, LATE, { ref: false })
  if ((await Promise.race([closed, deadline])) === LATE) {
    logger.warn('The run store could not be told in time that this process stops')
  }
  // What a collector does not take in this time is lost; so are the spans of a process that is killed.
  const sent = tracing?.shutdown().catch(() => undefined)
  await Promise.race([Promise.all([api.close(), sent]), wait(FAREWELL_MS, LATE, { ref: false })])
  if (drainTimeoutMs > 0) logger.info('Stopped')
}

function listed<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}

/** The limits that the control API keeps. */
const API_LIMITS = [
  'maxBodyBytes',
  'maxToolCalls',
  'maxAuditEntries',
  'maxConnections',
  'maxConnectionsPerAddress',
  'maxSockets',
  'maxUnreadBytes',
  'maxTraceBytes',
] as const satisfies readonly (keyof LimitsConfig & keyof ControlApiOptions)[]

type ApiLimit = (typeof API_LIMITS)[number]

function apiLimits(limits: LimitsConfig = {}): Pick<LimitsConfig, ApiLimit> {
  const given = API_LIMITS.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, limits[name]]))
}

/** The limits that the runs keep. */
function runLimits(limits: LimitsConfig = {}): Omit<LimitsConfig, ApiLimit | 'drainTimeoutMs'> {
  const others: readonly string[] = [...API_LIMITS, 'drainTimeoutMs']
  const entries = Object.entries(limits)
  return Object.fromEntries(
    entries.filter(([name, value]) => !others.includes(name) && value !== undefined),
  )
}

function assertShared({ ensembles, shared = {} }: TuttiConfig, tools: ToolCatalog): void {
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
  ]
  if (problems.length > 0) throw new TuttiError('CONFIG_INVALID', problems.join('; '))
}

/** @throws {TuttiError} CONFIG_INVALID, naming the rules and profiles whose tier is not there. */
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

/** Gives what `make` makes; closes `storage` when it fails. A limit that is out of range is no fault. */
async function unlessFailed<T>(storage: AsyncDisposable, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    if (!(error instanceof RangeError)) throw error
    throw new TuttiError('CONFIG_INVALID', errorMessage(error), { cause: error })
  }
}

/** The configured tools, and those of the ensembles whose name is not taken. */
function allTools(
  ensembles: readonly Ensemble[],
  tools: readonly AgentTool[],
): readonly AgentTool[] {
  const taken = new Set(tools.map(({ name }) => name))
  const others = ensembles.flatMap(({ tasks }) => tasks.flatMap((task) => task.tools))
  return [...tools, ...others.filter(({ name }) => !taken.has(name) && taken.add(name))]
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
