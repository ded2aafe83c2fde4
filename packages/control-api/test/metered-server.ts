/** A measured server with ensembles for all events, and a scenario with known numbers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { apiKey, serveControlApi, serverMetrics, type ControlApiOptions } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, priceList, rateLimit, task } from '@tutti/ensemble'
import {
  createRunService,
  type RunService,
  sqliteRunStorage,
  type RunServiceOptions,
} from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { checkedFetch } from './answers.ts'
import { createWaitingTool } from './a2a-agent.ts'
import { readMetrics, valueOf, type ReadFamily } from './metrics-text.ts'
import { Socket } from './open-server.ts'

import type { Logger } from '@tutti/core'

/** A measured server. */
export interface MeteredServer extends AsyncDisposable {
  readonly url: string
  readonly runs: RunService
  /** Requests so far by `route status`, with their counts. */
  readonly asked: ReadonlyMap<string, number>
  /** Releases waiting tools. */
  play(): void
  /** Sends a request to a route and expects a status. */
  ask(route: string, status: number, init: Asked): Promise<Response>
  submit(ensemble: string, more?: object): Promise<string>
  ended(runId: string): Promise<void>
  connect(): Socket
  /** Reads `/metrics`. */
  scrape(): Promise<Scrape>
}

/** A request of a test. */
export interface Asked extends RequestInit {
  readonly path: string
  readonly json?: unknown
  /** Key of the request. @default that of the operator */
  readonly key?: string | null
}

/** Metrics of one scrape. */
export interface Scrape {
  readonly text: string
  readonly families: ReadonlyMap<string, ReadFamily>
  value(name: string, labels?: Readonly<Record<string, string>>): number
}

/** API keys of the server. */
export const KEYS = {
  ops: 'ops-key-of-some-length',
  reader: 'reader-key-of-some-length',
  hasty: 'hasty-key-of-some-length',
  single: 'single-key-of-some-length',
} as const

/** Usage of one turn of the scripted models. */
export const USAGE = { inputTokens: 100, outputTokens: 10 }

export interface MeteredServerOptions {
  readonly storage?: RunStorage
  readonly limits?: RunServiceOptions
  readonly api?: Partial<ControlApiOptions>
  readonly logger?: Logger
}

/** Starts a measured server. */
export async function openMeteredServer(
  options: MeteredServerOptions = {},
): Promise<MeteredServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-metered-'))
  const waiting = createWaitingTool()
  const metrics = serverMetrics({ version: '1.2.3', cacheMs: 0 })
  const { ensembles, tools, models } = buildEnsembles(waiting.tool)
  const logger = options.logger === undefined ? {} : { logger: options.logger }
  const runs = createRunService(
    metrics.measured(options.storage ?? (await sqliteRunStorage(path))),
    ensembles,
    {
      models,
      prices: priceList({ 'scripted:small': { inputPerMillion: 1, outputPerMillion: 10 } }),
      maxConcurrentRuns: 50,
      ...metrics.runs,
      ...logger,
      ...options.limits,
    },
  )
  const api = await serveControlApi(
    {
      runs,
      tools: toolCatalog(tools),
      models,
      metrics,
      extensions: EXTENSIONS,
      apiKeys: [
        apiKey(KEYS.ops, { name: 'ops', scopes: ['admin'] }),
        apiKey(KEYS.reader, { name: 'reader', scopes: ['runs:read'] }),
        apiKey(KEYS.hasty, {
          name: 'hasty',
          scopes: ['runs:read'],
          limits: { requestsPerMinute: 1 },
        }),
        apiKey(KEYS.single, {
          name: 'single',
          scopes: ['runs:write'],
          limits: { maxUnfinishedRuns: 1 },
        }),
      ],
      ...logger,
      ...options.api,
    },
    { port: 0 },
  )
  await runs.start()
  const asked = new Map<string, number>()
  const ask = async (route: string, status: number, { path, json, key, ...init }: Asked) => {
    const headers = new Headers(init.headers)
    if (key !== null) headers.set('authorization', `Bearer ${key ?? KEYS.ops}`)
    if (json !== undefined) headers.set('content-type', 'application/json')
    const response = await checkedFetch(`${api.url}${path}`, {
      ...init,
      headers,
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    })
    if (response.status !== status) {
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    }
    const line = `${route} ${status}`
    asked.set(line, (asked.get(line) ?? 0) + 1)
    return response
  }
  return {
    url: api.url,
    runs,
    asked,
    ask,
    play: waiting.release,
    async submit(name, more = {}) {
      const json = { ensemble: name, ...more }
      const response = await ask('submitRun', 202, { path: '/api/runs', json })
      const { runId } = (await response.json()) as { runId: string }
      return runId
    },
    async ended(runId) {
      for await (const _ of runs.follow({ runId, from: 0 })) continue
    },
    connect: () => new Socket(`${api.url}/ws`, { authorization: `Bearer ${KEYS.ops}` }),
    async scrape() {
      const text = await (
        await ask('getMetrics', 200, { path: '/metrics', key: KEYS.reader })
      ).text()
      const families = readMetrics(text)
      return { text, families, value: (name, labels) => valueOf(families, name, labels) }
    },
    async [Symbol.asyncDispose]() {
      waiting.release()
      await runs.close({ drainTimeoutMs: 5_000 })
      await api.close()
      rmSync(path, { recursive: true })
    },
  }
}

/** Ensembles of the server. */
function buildEnsembles(wait: ReturnType<typeof createWaitingTool>['tool']) {
  const add = defineTool({
    name: 'add',
    description: 'Adds',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }),
    execute({ a, b }, { metrics }) {
      metrics.increment('sums', 2)
      metrics.record('sum', a + b)
      return String(a + b)
    },
  })
  const broken = defineTool({
    name: 'break_down',
    description: 'Throws',
    input: Type.Object({}),
    execute() {
      throw new Error('out of tune')
    },
  })
  const calling = (calls: readonly { readonly name: string; readonly arguments: object }[]) =>
    scriptedModel(
      ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: 'It was played in full', usage: USAGE }
          : { toolCalls: calls, usage: USAGE },
      { name: 'small' },
    )
  const sums = { name: 'add', arguments: { a: 2, b: 3 } }
  const small = calling([sums, sums, { name: broken.name, arguments: {} }])
  const down = scriptedModel(() => new Error('The provider is down'), { name: 'down' })
  const play = task({ name: 'play', description: 'Play', tools: [add, broken] })
  const hold = task({ name: 'hold', description: 'Hold', tools: [wait] })
  const sing = task({ name: 'sing', description: 'Sing', handler: () => 'la' })
  return {
    tools: [add, broken, wait],
    models: modelCatalog({ small }),
    ensembles: [
      ensemble({ name: 'simple', tasks: [sing] }),
      ensemble({ name: 'band', tasks: [play], model: small }),
      ensemble({ name: 'broken', tasks: [play], model: down }),
      ensemble({ name: 'flaky', tasks: [play], model: down, fallbackModels: [small] }),
      ensemble({
        name: 'limited',
        tasks: [play],
        model: small,
        // Longer than the time between the two turns of the run on any machine.
        rateLimit: rateLimit({ requests: 1, intervalMs: 1_500 }),
      }),
      ensemble({ name: 'choir', tasks: [sing], reviewPolicy: 'AFTER_LAST_TASK' }),
      ensemble({
        name: 'waiting',
        tasks: [hold],
        model: calling([{ name: 'wait', arguments: {} }]),
      }),
    ],
  }
}
