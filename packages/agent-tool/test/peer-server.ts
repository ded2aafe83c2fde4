/** A real Tutti server that shares tasks and tools, on a free port. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { defineTextTool, defineTool, silentLogger, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { RunService, sqliteRunStorage, type RunRecord } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'

/** A server, and what a test does with it. */
export interface PeerServer extends AsyncDisposable {
  /** Such as `ws://127.0.0.1:4000`. */
  readonly url: string
  readonly runs: RunService
  /** What its tool `shout` was called with. */
  readonly shouted: string[]
  /** Resolves when the tool `wait` was begun. */
  readonly waiting: Promise<void>
  /** Resolves when it was begun with the text `forever`, after which nothing but its signal ends it. */
  readonly waitingForever: Promise<void>
  /** Resolves when `wait` was told to stop. */
  readonly stopped: Promise<void>
  /** Lets `wait` go on. */
  play(): void
  /** The runs, newest first. */
  list(): Promise<readonly RunRecord[]>
  /** Resolves when a run has ended. */
  ended(runId: string): Promise<void>
}

/** Starts a server. */
export async function peerServer(
  options: Pick<ControlApiOptions, 'apiKeys' | 'maxToolCalls'> = {},
): Promise<PeerServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-peer-'))
  const gate = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const forever = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const shouted: string[] = []
  const tools = toolsOf({ gate, waiting, forever, stopped, shouted })
  const runs = new RunService(sqliteRunStorage(path), ensemblesOf(tools.wait), {
    logger: silentLogger,
  })
  const server = await serveControlApi(
    {
      runs,
      tools: toolCatalog(Object.values(tools)),
      models: modelCatalog({ small: scriptedModel(() => 'Hi') }),
      logger: silentLogger,
      ...options,
    },
    { port: 0 },
  )
  await runs.start()
  return {
    url: server.url.replace(/^http/, 'ws'),
    runs,
    shouted,
    waiting: waiting.promise,
    waitingForever: forever.promise,
    stopped: stopped.promise,
    play: gate.resolve,
    list: async () => {
      const page = await runs.list({ limit: 10, offset: 0 })
      const records = await Promise.all(page.runs.map(({ runId }) => runs.record(runId)))
      return records.filter((run) => run !== undefined)
    },
    async ended(runId) {
      for await (const batch of runs.follow({ runId, from: 0 })) {
        if (batch.some(({ type }) => type === 'run_result')) return
      }
    },
    async [Symbol.asyncDispose]() {
      gate.resolve()
      await runs.close({ drainTimeoutMs: 5_000 })
      await server.close()
      rmSync(path, { recursive: true })
    },
  }
}

interface Signs {
  readonly gate: PromiseWithResolvers<void>
  readonly waiting: PromiseWithResolvers<void>
  readonly forever: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly shouted: string[]
}

function toolsOf({ gate, waiting, forever, stopped, shouted }: Signs) {
  const shout = defineTextTool({
    name: 'shout',
    description: 'Shouts',
    execute(text) {
      shouted.push(text)
      if (text === 'fail') throw new Error('No voice')
      return `${text.toUpperCase()}!`
    },
  })
  const add = defineTool({
    name: 'add',
    description: 'Adds',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }),
    execute: ({ a, b }) => String(a + b),
  })
  const tune = defineTextTool({
    name: 'tune',
    description: 'Tunes',
    requireApproval: true,
    execute: (text) => text,
  })
  const both = defineTextTool({ name: 'both', description: 'A tool', execute: (text) => text })
  const wait = defineTextTool({
    name: 'wait',
    description: 'Waits for the test',
    timeoutMs: Infinity,
    async execute(text, { signal }) {
      signal.addEventListener('abort', () => {
        stopped.resolve()
      })
      const isForever = text === 'forever'
      if (isForever) forever.resolve()
      else waiting.resolve()
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
      await (isForever ? aborted : Promise.race([gate.promise, aborted]))
      return 'Waited'
    },
  })
  return { shout, add, tune, both, wait }
}

function ensemblesOf(wait: ReturnType<typeof toolsOf>['wait']): readonly Ensemble[] {
  let calls = 0
  const echo = scriptedModel(() => `Answer ${(calls += 1)}`)
  const waiter = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'It was played in full'
      : { text: 'One moment', toolCalls: [{ name: 'wait', arguments: { input: '4 bars' } }] },
  )
  const mute = scriptedModel(() => {
    throw new Error('No voice')
  })
  const one = (name: string, model: typeof echo) =>
    ensemble({ name, tasks: [task({ name: 'say', description: 'Say {text}' })], model })
  const tune = task({ name: 'tune', description: 'Tune for {text}' })
  const play = task({ name: 'play', description: 'Play {text}', context: [tune], tools: [wait] })
  const sing = task({
    name: 'sing',
    description: 'Sing {text}',
    review: { prompt: 'Is it in tune?', timeoutMs: 60_000 },
  })
  return [
    one('echo', echo),
    one('mute', mute),
    one('both', echo),
    ensemble({ name: 'band', tasks: [tune, play], model: waiter }),
    ensemble({ name: 'choir', tasks: [sing], model: echo }),
  ]
}
