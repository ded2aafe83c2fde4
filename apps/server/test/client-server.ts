/** Serves a control API in this process, behind a proxy whose connections a test can cut. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { apiKey, serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'

import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'
import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'

/** A served control API. */
export interface ClientServer extends AsyncDisposable {
  /** Address of the proxy. */
  readonly url: string
  /** Number of open connections through the proxy. */
  readonly connections: number
  /** Number of requests to drain. */
  readonly drains: number
  /** Resolves when call `n` of the waiting tool has started, in any run. */
  untilWaiting(n?: number): Promise<void>
  /** Completes the current and later calls of the waiting tool. */
  play(): void
  /** Cuts every connection, like a restart of a proxy. */
  cut(): void
}

/** Options of `openClientServer`. */
export type ClientServerOptions = Partial<ControlApiOptions> & {
  readonly maxQueuedRuns?: number
  /** Additional ensembles. @default [] */
  readonly more?: readonly Ensemble[]
}

/** Key with all scopes. */
export const KEY = 'k-of-the-conductor'

/** Configuration of that key. */
export const ADMIN = apiKey(KEY, { name: 'conductor', scopes: ['admin'] })

/** Serves a control API with a band, whose second task waits in its tool, and a panel, whose task is reviewed. */
export async function openClientServer({
  maxQueuedRuns,
  more = [],
  ...options
}: ClientServerOptions = {}): Promise<ClientServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-client-'))
  const workspace = join(path, 'workspace')
  mkdirSync(join(workspace, 'scores'), { recursive: true })
  writeFileSync(join(workspace, 'scores', 'fugue.txt'), 'Grüße, Bach')
  const waiting = waitingTool()
  let drains = 0
  const models = modelCatalog({ small: bandModel('small'), large: bandModel('large') })
  const tools = toolCatalog([waiting.tool, ...handTools()])
  const runs = createRunService(
    await sqliteRunStorage(join(path, 'data')),
    [...ensembles(waiting.tool), ...more],
    {
      models,
      tools,
      ...(maxQueuedRuns === undefined ? {} : { maxQueuedRuns, maxConcurrentRuns: 1 }),
    },
  )
  const drain = (): void => {
    drains += 1
  }
  const api = await serveControlApi(
    { runs, tools, models, workspace, drain, extensions: EXTENSIONS, ...options },
    { port: 0 },
  )
  await runs.start()
  const proxy = await tcpProxy(api.url)
  return {
    url: proxy.url,
    get connections() {
      return proxy.connections
    },
    get drains() {
      return drains
    },
    untilWaiting: waiting.begun,
    play: waiting.play,
    cut: proxy.cut,
    async [Symbol.asyncDispose]() {
      waiting.play()
      await proxy[Symbol.asyncDispose]()
      await runs.close({ drainTimeoutMs: 5_000 })
      await api.close()
      rmSync(path, { recursive: true })
    },
  }
}

/** Creates a tool that waits until the test releases it. */
function waitingTool() {
  const release = Promise.withResolvers<void>()
  const watchers = new Set<() => void>()
  let calls = 0
  const tool = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      calls += 1
      for (const check of watchers) check()
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([release.promise, aborted])
      return 'waited'
    },
  })
  return {
    tool,
    play: release.resolve,
    begun: (n = 1) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (calls >= n) resolve()
        }
        watchers.add(check)
        check()
      }),
  }
}

function handTools() {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }),
    execute: ({ a, b }) => String(a + b),
  })
  const fail = defineTool({
    name: 'fail',
    description: 'Fails',
    input: Type.Object({}),
    execute: () => {
      throw new Error('Out of tune')
    },
  })
  return [add, fail]
}

/** Creates a model that names itself in each turn, calls its tool once, and ends. */
function bandModel(name: string) {
  return scriptedModel(
    ({ messages, tools }: ModelRequest) => {
      if (tools.length === 0) return `All instruments are in tune, says ${name}`
      if (messages.at(-1)?.role === 'tool') return `It was played in full, says ${name}`
      return { text: 'One moment', toolCalls: [{ name: 'wait', arguments: {} }] }
    },
    { name },
  )
}

function ensembles(wait: ReturnType<typeof waitingTool>['tool']) {
  const model = bandModel('small')
  const tune = task({ name: 'tune', description: 'Tune for {composer}' })
  const play = task({
    name: 'play',
    description: 'Play {composer}',
    context: [tune],
    tools: [wait],
  })
  const decide = task({
    name: 'decide',
    description: 'Decide on {composer}',
    review: { prompt: 'Good?', timeoutMs: 60_000 },
  })
  const stumble = task({ name: 'stumble', description: 'Stumble' })
  const broken = scriptedModel(() => {
    throw new Error('The model fell over')
  })
  return [
    ensemble({
      name: 'band',
      tasks: [tune, play],
      model,
      inputs: ['a', 'b', 'c', 'd', 'e', 'text'],
    }),
    ensemble({ name: 'panel', tasks: [decide], model }),
    ensemble({ name: 'soloist', tasks: [tune], model }),
    ensemble({ name: 'stumbler', tasks: [stumble], model: broken }),
  ]
}
