/** Three complete Tutti servers on free ports: the first calls the second, which calls the third. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi } from '@tutti/control-api'
import { defineTextTool, toolCatalog, type AgentTool } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, priceList, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import { fakeClock, scriptedModel, type FakeClock, type ScriptedModel } from '@tutti/testing'

import { CONNECTORS, EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { agentTool } from '../src/index.ts'
import type { AgentMode } from '../src/internal.ts'

import type { RunSubmission } from '@tutti/runs'
import type { RunRecord, ReviewRecord } from '@tutti/runs/adapter'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** Protocol between the second and the third server. */
export type Wire = 'a2a' | 'tasks' | 'mcp' | 'peer'

export interface NestedServer {
  /** Base URL, such as `http://127.0.0.1:4000`. */
  readonly url: string
  readonly runs: RunService
  /** Returns the newest run. */
  newest(): Promise<RunRecord>
  /** Waits for the result of a run. */
  ended(runId: string): Promise<RunEventOf<'run_result'>>
  /** Waits for the first event of a type in a run. */
  event(runId: string, type: LoggedRunEvent['type']): Promise<LoggedRunEvent>
  /** Waits for a review of a run and returns the open one. */
  asked(runId: string): Promise<ReviewRecord>
  close(): Promise<void>
}

/** The three servers, with promises for what the third one does. */
export interface NestedServers extends AsyncDisposable {
  readonly first: NestedServer
  readonly second: NestedServer
  readonly third: NestedServer
  /** Resolves with the trace context of the tool `dig` on the third server when it starts. */
  readonly digging: Promise<string | undefined>
  /** Resolves when the tool `ask` on the third server asks its question. */
  readonly asking: Promise<void>
  /** Resolves when the model of the third server is called. */
  readonly answered: Promise<void>
  /** Resolves when `dig` is aborted. */
  readonly stopped: Promise<void>
  /** Clock of the third server; its runs use the system clock. */
  readonly clock: FakeClock
  /** Submits a run to the first server. */
  submit(submitted?: Omit<RunSubmission, 'ensemble'>): Promise<RunRecord>
}

/** Cost in US dollars and tokens of one model call, on every server. */
export const CALL = { costUsd: 0.01, tokens: 1_000 } as const

/** Behavior of the third server. */
export type Deep =
  /** Answers at once. */
  | 'answer'
  /** Calls the tool `dig`, which waits until it is aborted. */
  | 'dig'
  /** Calls a tool repeatedly until its budget is used up. */
  | 'spend'
  /** Calls a tool that asks the reviewer and returns the answer. */
  | 'ask'
  /** Answers, with a review of the output. */
  | 'review'

/** Protocol and behavior of the servers. */
export interface NestedOptions {
  readonly wire: Wire
  readonly mode: AgentMode
  readonly deep: Deep
}

/** Starts the three servers. */
export async function nestedServers(options: NestedOptions): Promise<NestedServers> {
  const { wire, mode, deep } = options
  const digging = Promise.withResolvers<string | undefined>()
  const stopped = Promise.withResolvers<void>()
  const asking = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const dig = defineTextTool({
    name: 'dig',
    description: 'Digs',
    timeoutMs: Infinity,
    execute: (_, { signal, traceparent }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          stopped.resolve()
          resolve('Stopped')
        })
        digging.resolve(traceparent)
      }),
  })
  const clock = fakeClock(Date.now())
  const third = await nestedServer(createDeepEnsemble(deep, dig, { asking, answered }), { clock })
  const below = agentTool({
    ...agentAddress(third, wire),
    connectors: CONNECTORS,
    name: 'deep',
    description: 'Asks the third server',
    mode,
    timeoutMs: 60_000,
  })
  const second = await nestedServer(createRelay('middle', below))
  const middle = agentTool({
    agent: `${second.url}/agents/middle`,
    wire: 'a2a',
    name: 'middle',
    description: 'Asks the second server',
    mode,
    timeoutMs: 60_000,
  })
  const first = await nestedServer(createRelay('top', middle))
  return {
    first,
    second,
    third,
    digging: digging.promise,
    stopped: stopped.promise,
    asking: asking.promise,
    answered: answered.promise,
    clock,
    submit: (submitted = {}) => first.runs.submit({ inputs: { input: 'gold' }, ...submitted }),
    async [Symbol.asyncDispose]() {
      for (const server of [first, second, third]) await server.close()
      await Promise.all([middle.close(), below.close()])
    },
  }
}

function agentAddress({ url }: NestedServer, wire: Wire) {
  switch (wire) {
    case 'mcp':
      return { agent: `mcp+${url}/mcp#deep` } as const
    case 'peer':
      return { agent: `${url.replace(/^http/, 'ws')}#task:deep` } as const
    case 'a2a':
    case 'tasks':
      return { agent: `${url}/agents/deep`, wire } as const
  }
}

const USAGE = { inputTokens: CALL.tokens - 100, outputTokens: 100 }

const prices = priceList({
  'scripted:model': { inputPerMillion: 10, outputPerMillion: 10 },
})

/** Creates an ensemble whose agent calls a tool once and returns its output. */
function createRelay(name: string, tool: AgentTool): Ensemble {
  return ensemble({
    name,
    tasks: [task({ name, description: FIND, tools: [tool] })],
    model: modelThatCalls(tool, 1),
  })
}

const FIND = 'Find {input}'

/** Creates a model that calls a tool `times` times and then answers with its last output. */
function modelThatCalls({ name }: Pick<AgentTool, 'name'>, times: number): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const outputs = messages.filter(({ role }) => role === 'tool')
    return outputs.length < times
      ? { toolCalls: [{ name, arguments: { input: 'gold' } }], usage: USAGE }
      : { text: outputs.at(-1)?.content ?? 'Found it', usage: USAGE }
  })
}

/** More tool calls than any budget in these tests allows. */
const MANY = 8

interface Signals {
  readonly asking: PromiseWithResolvers<void>
  readonly answered: PromiseWithResolvers<void>
}

function createDeepEnsemble(deep: Deep, dig: AgentTool, { asking, answered }: Signals): Ensemble {
  const spade = defineTextTool({ name: 'spade', description: 'Digs', execute: () => 'Earth' })
  // Asks like the built-in tool `human_input`.
  const ask = defineTextTool({
    name: 'ask',
    description: 'Asks a person',
    async execute(_, { requestAnswer }) {
      asking.resolve()
      const answer = await requestAnswer('Where is it?', { timeoutMs: 60_000 })
      return answer.answered ? `There: ${answer.value}` : 'No answer'
    },
  })
  const tool = { answer: spade, review: spade, spend: spade, dig, ask }[deep]
  const times = { answer: 0, review: 0, spend: MANY, dig: 1, ask: 1 }[deep]
  const review = { prompt: 'Is it gold?', timeoutMs: 60_000 }
  const one = task({
    name: 'deep',
    description: FIND,
    tools: [tool],
    ...(deep === 'review' ? { review } : {}),
  })
  const model = modelThatCalls(tool, times)
  const observed: ChatModel = {
    ...model,
    stream(request, options) {
      answered.resolve()
      return model.stream(request, options)
    },
  }
  return ensemble({ name: 'deep', tasks: [one], model: observed })
}

async function nestedServer(
  served: Ensemble,
  more: { readonly clock?: FakeClock } = {},
): Promise<NestedServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-nested-'))
  const options = { logger: silentLogger, prices }
  const runs = createRunService(await sqliteRunStorage(path), [served], options)
  const server = await serveControlApi(
    {
      runs,
      tools: toolCatalog([]),
      models: modelCatalog({}),
      logger: silentLogger,
      extensions: EXTENSIONS,
      ...more,
    },
    { port: 0 },
  )
  await runs.start()
  const event: NestedServer['event'] = async (runId, type) => {
    for await (const batch of runs.follow({ runId, from: 0 })) {
      const found = batch.find((one) => one.type === type)
      if (found !== undefined) return found
    }
    throw new Error(`The run ${runId} has no event ${type}`)
  }
  return {
    url: server.url,
    runs,
    event,
    async newest() {
      const [run] = (await runs.list({ limit: 1, offset: 0 })).runs
      const record = run === undefined ? undefined : await runs.record(run.runId)
      if (record === undefined) throw new Error('No run found')
      return record
    },
    async ended(runId) {
      const result = await event(runId, 'run_result')
      if (result.type !== 'run_result') throw new Error('Expected a run_result event')
      return result
    },
    async asked(runId) {
      await event(runId, 'review_requested')
      const [review] = await runs.reviews.open({ runId })
      if (review === undefined) throw new Error('No open review')
      return review
    },
    async close() {
      await runs.close({ drainTimeoutMs: 5_000 })
      await server.close()
      rmSync(path, { recursive: true })
    },
  }
}
