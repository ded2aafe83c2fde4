/** Composes a server from its configuration and environment, and runs it. */
import { setTimeout as wait } from 'node:timers/promises'

import { errorMessage, toolCatalog, TuttiError, type AgentTool, type Logger } from '@tutti/core'
import { serveControlApi } from '@tutti/control-api'
import { modelCatalog, type ChatModel, type Ensemble } from '@tutti/ensemble'
import { langchainModel } from '@tutti/langchain'
import { RunService } from '@tutti/runs'

import { openStorage } from './open-storage.ts'

import type { TuttiConfig } from './config.ts'
import type { Environment } from './env.ts'

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
  const { ensembles, limits = {} } = config
  const { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, maxBodyBytes, ...runLimits } = limits
  const tools = toolCatalog(allTools(ensembles, config.tools ?? []))
  const models = modelCatalog(toModels(config.models ?? {}))
  const storage = await openStorage(environment, logger)
  const runs = await unlessFailed(storage, () => {
    const executes = environment.role !== 'api'
    return new RunService(storage, ensembles, { ...runLimits, executes, models, logger })
  })
  const api = await unlessFailed(storage, () =>
    serveControlApi(
      {
        runs,
        tools,
        models,
        logger,
        surface: environment.role === 'worker' ? 'health' : 'all',
        apiKeys: environment.apiKeys,
        allowedHosts: allowedHosts(config, environment),
        ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      },
      environment,
    ),
  )
  const stop = async (): Promise<void> => {
    const closed = runs.close({ drainTimeoutMs }).catch((error: unknown) => {
      logger.warn('The run store could not be closed', { error })
    })
    const deadline = wait(drainTimeoutMs + FAREWELL_MS, LATE, { ref: false })
    if ((await Promise.race([closed, deadline])) === LATE) {
      logger.warn('The run store could not be told in time that this process stops')
    }
    await api.close()
  }
  try {
    return { url: api.url, resumed: await runs.start(), stop }
  } catch (error) {
    await stop()
    throw error
  }
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

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

function assertSafeAddress({ auth }: TuttiConfig, { host, apiKeys }: Environment): void {
  if (LOOPBACK.test(host) || apiKeys.length > 0 || auth?.allowUnauthenticated === true) return
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot listen on "${host}" without keys: anyone who reaches it could start runs. ` +
      'Set TUTTI_API_KEYS, or say auth: { allowUnauthenticated: true } in the config file',
  )
}

/** A name that the operator listens on is a name of the server; `0.0.0.0` says nothing about names. */
function allowedHosts(
  { allowedHosts: named }: TuttiConfig,
  { host }: Environment,
): readonly string[] {
  const everyAddress = host === '0.0.0.0' || host === '::'
  if (named !== undefined) return everyAddress ? named : [...named, host]
  return everyAddress ? ['*'] : [host]
}
