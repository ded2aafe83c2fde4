/** A real Tutti server on a free port that shares tasks and tools. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { defineTextTool, defineTool, toolCatalog, Type } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'

/** A running server, with promises and controls for tests. */
export interface PeerServer extends AsyncDisposable {
  /** WebSocket URL, such as `ws://127.0.0.1:4000`. */
  readonly url: string
  readonly runs: RunService
  /** Inputs of the calls to the tool `shout`. */
  readonly shouted: string[]
  /** Resolves when the tool `wait` has started. */
  readonly waiting: Promise<void>
  /** Resolves when `wait` has started with the text `forever`; only its signal ends that call. */
  readonly waitingForever: Promise<void>
  /** Resolves when `wait` is aborted. */
  readonly stopped: Promise<void>
  /** Lets `wait` return. */
  play(): void
  /** Returns the newest ten runs, newest first. */
  list(): Promise<readonly RunRecord[]>
  /** Resolves when a run has ended. */
  ended(runId: string): Promise<void>
}

/** Starts a server; the caller disposes it. */
export async function peerServer(
  options: Pick<ControlApiOptions, 'apiKeys' | 'maxToolCalls'> = {},
): Promise<PeerServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-peer-'))
  const playing = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const forever = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const shouted: string[] = []
  const tools = createTools({ playing, waiting, forever, stopped, shouted })
  const runs = createRunService(await sqliteRunStorage(path), createEnsembles(tools.wait), {
    logger: silentLogger,
  })
  const server = await serveControlApi(
    {
      runs,
      tools: toolCatalog(Object.values(tools)),
      models: modelCatalog({ small: scriptedModel(() => 'Hi') }),
      logger: silentLogger,
      extensions: EXTENSIONS,
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
    play: playing.resolve,
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
      playing.resolve()
      await runs.close({ drainTimeoutMs: 5_000 })
      await server.close()
      rmSync(path, { recursive: true })
    },
  }
}

interface Signals {
  readonly playing: PromiseWithResolvers<void>
  readonly waiting: PromiseWithResolvers<void>
  readonly forever: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly shouted: string[]
}

function createTools({ playing, waiting, forever, stopped, shouted }: Signals) {
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
      await (isForever ? aborted : Promise.race([playing.promise, aborted]))
      return 'Waited'
    },
  })
  return { shout, add, tune, both, wait }
}

function createEnsembles(wait: ReturnType<typeof createTools>['wait']): readonly Ensemble[] {
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
