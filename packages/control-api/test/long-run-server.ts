/** Serves a control API over any store, and a run of many events that the test releases. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { scriptedModel } from '@tutti/testing'

import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { createWaitingTool } from './a2a-agent.ts'
import { Socket } from './open-server.ts'

/** The server and the actions of tests. */
export interface LongRunServer extends AsyncDisposable {
  readonly url: string
  readonly runs: RunService
  /** Releases the run that waits in its middle. */
  play(): void
  /** Submits a run and returns its id. */
  submit(): Promise<string>
  /** Opens the event stream of a run. */
  stream(runId: string, query?: string, headers?: Record<string, string>): Promise<Response>
  connect(path?: string): Socket
}

/** Number of tasks of the run, and length of their texts in words. */
export interface LongRunShape {
  readonly tasks?: number
  readonly words?: number
}

interface Place {
  readonly storage: RunStorage
  remove(): Promise<void>
}

/** Kinds of stores by name, each with a fresh location. */
export const STORES = {
  async embedded() {
    const path = mkdtempSync(join(tmpdir(), 'tutti-delivery-'))
    return {
      storage: await sqliteRunStorage(path),
      async remove() {
        rmSync(path, { recursive: true })
      },
    }
  },
  async postgres() {
    const database = await testDatabase()
    return {
      storage: await postgresRunStorage({
        connectionString: database.url,
        maxConnections: 4,
      }),
      async remove() {
        await database[Symbol.asyncDispose]()
      },
    }
  },
}

/** Serves an ensemble whose middle task waits for the test. */
export async function openLongRunServer(
  store: keyof typeof STORES,
  { tasks: count = 6, words = 5, ...options }: LongRunShape & Partial<ControlApiOptions> = {},
): Promise<LongRunServer> {
  const { storage, remove }: Place = await STORES[store]()
  const { tool: wait, release } = createWaitingTool()
  const text = Array.from({ length: words }, (_, word) => `la${word}`).join(' ')
  const model = scriptedModel(({ messages, tools }) =>
    tools.length === 0 || messages.at(-1)?.role === 'tool'
      ? text
      : { text, toolCalls: [{ name: 'wait', arguments: {} }] },
  )
  const middle = Math.floor(count / 2)
  const tasks = Array.from({ length: count }, (_, index) =>
    task({
      name: `t${index}`,
      description: `Play ${index}`,
      tools: index === middle ? [wait] : [],
    }),
  )
  const models = modelCatalog({ small: model })
  const runs = createRunService(storage, [ensemble({ name: 'orchestra', tasks, model })], {
    models,
  })
  const api = await serveControlApi(
    { runs, models, tools: toolCatalog([]), extensions: EXTENSIONS, ...options },
    { port: 0 },
  )
  await runs.start()
  return {
    url: api.url,
    runs,
    play: release,
    async submit() {
      return (await runs.submit({})).runId
    },
    stream: (runId, query = '', headers = {}) =>
      fetch(`${api.url}/api/runs/${runId}/events${query}`, { headers }),
    connect: (path = '/ws') => new Socket(`${api.url}${path}`, {}),
    async [Symbol.asyncDispose]() {
      release()
      await runs.close({ drainTimeoutMs: 10_000 })
      await api.close()
      await remove()
    },
  }
}
