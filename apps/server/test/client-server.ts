/** A control API in this process, behind a proxy that a test can cut, for whoever calls it as a client. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { apiKey, serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble, type ModelRequest } from '@tutti/ensemble'
import { RunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'

import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'

/** A served stage. */
export interface ClientServer extends AsyncDisposable {
  /** Address of the proxy. */
  readonly url: string
  /** Connections that are open through the proxy. */
  readonly connections: number
  /** How often drain was asked for. */
  readonly drains: number
  /** Resolves when call `n` of the waiting tool has begun, whatever the run. */
  untilWaiting(n?: number): Promise<void>
  /** Lets the waiting tool go on, now and later. */
  play(): void
  /** Cuts every connection, as a proxy does that is restarted. */
  cut(): void
}

/** Settings of a stage. */
export type ClientServerOptions = Partial<ControlApiOptions> & {
  readonly maxQueuedRuns?: number
  /** Served beside those of the stage. @default [] */
  readonly more?: readonly Ensemble[]
}

/** The key of somebody who may do everything, on a stage with keys. */
export const KEY = 'k-of-the-conductor'

/** The entry of that key. */
export const ADMIN = apiKey(KEY, { name: 'conductor', scopes: ['admin'] })

/** Serves a stage: a band whose second task waits in its tool, and a panel whose task is reviewed. */
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
  const runs = new RunService(
    sqliteRunStorage(join(path, 'data')),
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
    { runs, tools, models, workspace, drain, ...options },
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

/** A tool that waits until it is let go. */
function waitingTool() {
  const gate = Promise.withResolvers<void>()
  const watchers = new Set<() => void>()
  let calls = 0
  const tool = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      calls += 1
      for (const look of watchers) look()
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([gate.promise, aborted])
      return 'waited'
    },
  })
  return {
    tool,
    play: gate.resolve,
    begun: (n = 1) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (calls >= n) resolve()
        }
        watchers.add(look)
        look()
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

/** Says at each turn which model it is, calls its tool once, and ends. */
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
    ensemble({ name: 'band', tasks: [tune, play], model }),
    ensemble({ name: 'panel', tasks: [decide], model }),
    ensemble({ name: 'soloist', tasks: [tune], model }),
    ensemble({ name: 'stumbler', tasks: [stumble], model: broken }),
  ]
}
