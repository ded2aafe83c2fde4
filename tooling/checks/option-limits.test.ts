/**
 * Every number among the options of a package has a maximum. The options are found in the sources, so that a new one is
 * tested as well: an interface of options needs a row in `TAKERS` or in `NOT_CHECKED`.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { defineAgentTool, localConnector } from '../../packages/agent-call/src/internal.ts'
import { a2aConnector } from '../../packages/agent-tool/src/a2a/a2a-connector.ts'
import { mcpConnector } from '../../packages/agent-tool/src/mcp/mcp-connector.ts'
import { agentEnsemble } from '../../packages/compat-agentensemble/src/index.ts'
import { tasksConnector } from '../../packages/compat-jamjet/src/connector/index.ts'
import {
  fileRead,
  humanInput,
  jsonParser,
  webScrape,
  webSearch,
} from '../../packages/builtin-tools/src/index.ts'
import { searchService } from '../../packages/builtin-tools/src/web/search/search-service.ts'
import { createClient } from '../../packages/client/src/index.ts'
import { resolveControlApiOptions } from '../../packages/control-api/src/options.ts'
import { createLimiter, defineTool, Type } from '../../packages/core/src/index.ts'
import {
  ensemble,
  inMemoryStore,
  memoryScope,
  priceList,
  rateLimit,
  task,
} from '../../packages/ensemble/src/index.ts'
import { langchainModel } from '../../packages/langchain/src/index.ts'
import { resolveNatsEngineOptions } from '../../packages/nats/src/options.ts'
import { assertToolsOptions } from '../../packages/remote-tools/src/mcp/options.ts'
import { httpTool, openApiTools, processTool } from '../../packages/remote-tools/src/index.ts'
import { resolvePostgresRunStorageOptions } from '../../packages/runs/src/stores/postgres/database/options.ts'
import { findStepProblems } from '../../packages/ensemble/src/definition/step-options.ts'
import { findDefinitionProblems } from '../../packages/runs/src/schedules/definition-problems.ts'
import { resolveRunServiceOptions } from '../../packages/runs/src/settings/options.ts'
import { mapEach, parallel } from '../../packages/pipeline/src/index.ts'
import { maximumOf } from '../../packages/protocol/src/internal.ts'
import { resolveTraceRunsOptions } from '../../packages/telemetry/src/options.ts'
import { scriptedModel } from '../../packages/testing/src/index.ts'
import { resolveRequestOptions } from '../../packages/net/src/http/options.ts'
import { findProcessProblems } from '../../packages/net/src/process/options.ts'
import { findConfigProblems } from '../../apps/server/src/config/config-problems.ts'

type Numbers = Readonly<Record<string, unknown>>

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const TOOL = { name: 'a', description: 'd', input: Type.Object({}), execute: () => 'done' }
const URL_OF_AGENT = 'http://127.0.0.1:1/'
const model = scriptedModel(['hi'])
const tool = defineTool(TOOL)
const plainTask = task({ description: 'x' })
const connector = localConnector({ answer: async () => 'hi' }, 'tutti://a')
const agentToolOf = (given: Numbers): unknown =>
  defineAgentTool({ name: 'a', description: 'd', connector, ...given })
const ensembleOf = (given: Numbers): unknown =>
  ensemble({ name: 'a', model, tasks: [plainTask], ...given })
const clientOf = (given: Numbers) => createClient({ baseUrl: URL_OF_AGENT, ...given })
const configOf = async (given: Numbers): Promise<unknown> => {
  const config = { ensembles: [ensemble({ name: 'a', model, tasks: [plainTask] })], ...given }
  const problems = await findConfigProblems(config)
  if (problems.length > 0) throw new RangeError(problems.join('; '))
  return config
}
const throwProblems = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new RangeError(problems.join('; '))
}

/** Interface → the function that receives its numbers. */
const TAKERS: Readonly<Record<string, (given: Numbers) => unknown>> = {
  A2aConnectorOptions: (given) => a2aConnector({ url: URL_OF_AGENT, ...given }),
  AgentEnsembleOptions: agentEnsemble,
  AgentLimits: agentToolOf,
  AgentToolSettings: agentToolOf,
  ApprovalOptions: (requireApproval) => defineTool({ ...TOOL, requireApproval }),
  Budget: (budget) => task({ description: 'x', budget }),
  BackoffSettings: (backoff) => {
    throwProblems(findStepProblems({ backoff }))
  },
  CallOptions: (given) => clientOf({}).runs.get('run-a', given),
  ClientOptions: clientOf,
  ControlApiOptions: (given) =>
    // NOTE: only the limits are read before they are checked.
    resolveControlApiOptions({ runs: { budget: { limit: Infinity } }, ...given } as never),
  DelegationLimits: (delegation) => ensembleOf({ workflow: 'HIERARCHICAL', delegation }),
  EnsembleDefinition: ensembleOf,
  EnsembleToolSettings: (given) => ensemble({ name: 'a', model, tasks: [plainTask] }).asTool(given),
  FileOptions: (given) => fileRead({ directory: ROOT, ...given }),
  FollowOptions: (given) => clientOf({}).runs.events('run-a', given),
  HttpOptions: (given) => httpTool({ name: 'a', description: 'd', url: URL_OF_AGENT, ...given }),
  HumanInputOptions: humanInput,
  InMemoryStoreOptions: inMemoryStore,
  JsonParserOptions: jsonParser,
  KeyLimitsConfig: (limits) =>
    configOf({ auth: { keys: [{ name: 'a', key: 'k'.repeat(32), limits }] } }),
  LangchainModelOptions: (given) => langchainModel('openai:gpt-5', given),
  LimiterOptions: (given) => createLimiter({ maxConcurrent: 1, ...given }),
  LimitsConfig: (limits) => configOf({ limits }),
  MapSettings: (given) =>
    task({ name: 'a', description: 'x', forEach: { over: 'list', ...given } }),
  McpConnectorOptions: (given) =>
    mcpConnector({ server: { url: URL_OF_AGENT }, tool: 'a', ...given }),
  McpToolsOptions: (given) => {
    assertToolsOptions(given)
  },
  MapEachOptions: (given) => mapEach(tool, given),
  MemoryScopeDefinition: (given) => memoryScope({ name: 'a', ...given }),
  ModelPrice: (price) =>
    priceList({ 'a:b': { inputPerMillion: 1, outputPerMillion: 1, ...price } }),
  ModelRule: (rule) =>
    ensembleOf({ modelRules: [{ metric: 'latencyMs', above: 1, tier: 'a', ...rule }] }),
  NatsEngineOptions: (given) => resolveNatsEngineOptions({ servers: 'nats://a:4222', ...given }),
  OnUnfinished: (onUnfinished) => task({ description: 'x', onUnfinished }),
  OpenApiToolsOptions: (given) =>
    openApiTools({ openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: {} }, given),
  ParallelOptions: (given) => parallel({ tool }, given),
  PostgresRunStorageOptions: (given) =>
    resolvePostgresRunStorageOptions({ connectionString: 'postgres://a/b', ...given }),
  ProcessOptions: (given) => {
    throwProblems(findProcessProblems({ command: 'a', ...given }))
  },
  ProgramOptions: (given) =>
    processTool({ name: 'a', description: 'd', command: 'a', ...given } as never),
  RateLimitOptions: (given) => rateLimit({ requests: 1, intervalMs: 1, ...given }),
  ReconnectOptions: (reconnect) => clientOf({ reconnect }),
  RequestSettings: (given) => resolveRequestOptions(given),
  RetryOptions: (retries) =>
    httpTool({ name: 'a', description: 'd', url: URL_OF_AGENT, retries: { max: 1, ...retries } }),
  ReviewSettings: (review) => task({ description: 'x', review }),
  ReviewsConfig: (reviews) => resolveRunServiceOptions({ reviews }),
  RunEventsOptions: (given) => clientOf({}).runs.events('run-a', given),
  RunServiceOptions: resolveRunServiceOptions,
  ScheduleDefinition: (given) =>
    throwProblems(
      findDefinitionProblems({ cron: '@daily', run: {}, ...given }).map(
        ({ path, message }) => `${path} ${message}`,
      ),
    ),
  SearchServiceOptions: (given) =>
    searchService({ name: 'a', baseUrl: URL_OF_AGENT }, { apiKey: 'a', ...given }),
  StepOptions: (given) => {
    throwProblems(findStepProblems(given))
  },
  SubscribeOptions: (given) => {
    const connection = clientOf({ openSocket: () => undefined as never }).connect()
    try {
      return connection.subscribe({ runId: 'run-a', ...given })
    } finally {
      void connection.close()
    }
  },
  TaskDefinition: (given) => task({ description: 'x', ...given }),
  TasksConnectorOptions: (given) => tasksConnector({ url: URL_OF_AGENT, ...given }),
  TextLimits: (given) => resolveRunServiceOptions(given),
  ToolSettings: (given) => defineTool({ ...TOOL, ...given }),
  TelemetryConfig: (telemetry) => configOf({ telemetry }),
  TraceRunsOptions: (given) =>
    // NOTE: only the numbers are checked before the processor is used.
    resolveTraceRunsOptions({ processor: undefined, sampler: undefined, ...given } as never),
  TracesConfig: (traces) => configOf({ telemetry: { traces } }),
  WebScrapeOptions: webScrape,
  WebSearchOptions: (given) => webSearch({ provider: {} as never, ...given }),
  WorkerOptions: (worker) =>
    processTool({ name: 'a', description: 'd', command: 'a', mode: 'worker', worker } as never),
}

/** Interfaces of options that no caller outside the package sets, or whose values are checked under another name. */
const NOT_CHECKED: readonly string[] = [
  'AgentErrorOptions', // reported by an agent, clamped by the retry
  'DatabaseOptions', // from PostgresRunStorageOptions
  'ExecutionOptions', // from RunServiceOptions
  'GroupCommitOptions', // from RunServiceOptions
  'CallGroupOptions', // a constant of the package
  'KeyConfig', // a time, checked with its own message
  'KeyLimits', // from KeyLimitsConfig
  'ListenOptions', // a port, checked by Node
  'McpErrorOptions', // reported by a server
  'OpenOptions', // from LimitsConfig
  'PostgresNotificationsOptions', // constants of the store
  'ReadHtmlOptions', // constants of the tool
  'RunToolCallsOptions', // from EnsembleDefinition
  'RunToolOptions', // from ToolSettings
  'ScriptedModelOptions', // for tests
  'ServeOptions', // a port
  'ServerMetricsOptions', // constants of the server
  'StubOptions', // for tests
  'SubmitOptions', // `wait`, validated by the server
  'ThreadSettings', // `limit`, validated by the server
  'ThreadsSettings', // `limit`, validated by the server
  'TransactionOptions', // constants of the store
  'TuttiClientErrorOptions', // reported by a server
]

const IS_GIVEN =
  /(?:Options|Definition|Settings|Config|Limits|Rule|OnUnfinished|Budget|ModelPrice)$/

/** Returns the numbers of every exported interface of options, by the name of the interface. */
function findNumbers(): ReadonlyMap<string, readonly string[]> {
  const files = globSync(['packages/*/src/**/*.ts', 'apps/server/src/{config,start}/**/*.ts'], {
    cwd: ROOT,
  })
  const found = files
    .filter((file) => !/\.test(?:-d)?\.ts$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(`${ROOT}${file}`, 'utf8')
      return [...text.matchAll(/^export interface (\w+)[^{]*\{\n(.*?)^\}/gms)]
    })
    .map(([, name = '', body = '']) => {
      const members = [...body.matchAll(/^ {2}readonly (\w+)\?: number(?: \||$)/gm)]
      return [name, members.map(([, member = '']) => member)] as const
    })
  return new Map(
    found.filter(
      ([name, members]) =>
        members.length > 0 && IS_GIVEN.test(name) && !name.startsWith('Resolved'),
    ),
  )
}

const numbers = findNumbers()

describe('the interfaces of options', () => {
  it('The interfaces of options are all tested', () => {
    expect(numbers.size).toBeGreaterThan(40)
    const known = [...Object.keys(TAKERS), ...NOT_CHECKED]
    expect([...numbers.keys()].filter((name) => !known.includes(name))).toEqual([])
  })
})

describe.each(Object.entries(TAKERS))('%s', (name, take) => {
  it.each(numbers.get(name) ?? expect.fail(`No interface ${name} has numbers`))(
    'The options refuse a value of %s above its maximum, and name both',
    async (member) => {
      const most = maximumOf(member)
      // Of a share or a port, the maximum is less than that of its unit.
      const error: unknown = await (async () => take({ [member]: most + 1 }))().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      const message = error instanceof Error ? error.message : ''
      expect(message).toContain(member)
      const bound = /(?:<=|to|at most|and|or) (\d+)/.exec(message)
      expect(Number(bound?.[1]), message).toBeLessThanOrEqual(most)
    },
  )
})
