/** Three Tutti servers on free ports, each a whole one: the first asks the second, and that the third. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi } from '@tutti/control-api'
import { defineTextTool, silentLogger, toolCatalog, type AgentTool } from '@tutti/core'
import {
  ensemble,
  modelCatalog,
  priceList,
  task,
  type ChatModel,
  type Ensemble,
} from '@tutti/ensemble'
import { RunService, sqliteRunStorage, type RunRecord } from '@tutti/runs'
import { fakeClock, scriptedModel, type FakeClock, type ScriptedModel } from '@tutti/testing'

import { agentTool, type AgentMode } from '../src/index.ts'

import type { ReviewRecord, RunSubmission } from '@tutti/runs'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** How the second server asks the third. */
export type Wire = 'a2a' | 'tasks' | 'mcp' | 'peer'

/** One of the servers. */
export interface NestedServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string
  readonly runs: RunService
  /** Its newest run. */
  newest(): Promise<RunRecord>
  /** The result of a run, once there is one. */
  ended(runId: string): Promise<RunEventOf<'run_result'>>
  /** The first event of a run that has a type, once there is one. */
  event(runId: string, type: LoggedRunEvent['type']): Promise<LoggedRunEvent>
  /** The review of a run that is open, once one is. */
  asked(runId: string): Promise<ReviewRecord>
  close(): Promise<void>
}

/** The three of them. */
export interface NestedServers extends AsyncDisposable {
  readonly first: NestedServer
  readonly second: NestedServer
  readonly third: NestedServer
  /** Resolves with the trace that the tool `dig` of the third was called in, once it is at work. */
  readonly digging: Promise<string | undefined>
  /** Resolves when the third asks a person by its tool. */
  readonly asking: Promise<void>
  /** Resolves when its model was asked. */
  readonly answered: Promise<void>
  /** Resolves when `dig` was told to stop. */
  readonly stopped: Promise<void>
  /** Of the third server, but for the runs on it. */
  readonly clock: FakeClock
  /** Begins a run of the first. */
  submit(submitted?: Omit<RunSubmission, 'ensemble'>): Promise<RunRecord>
}

/** What one model call costs in US dollars, and uses in tokens, on every server. */
export const CALL = { costUsd: 0.01, tokens: 1_000 } as const

/** What the third server does for the second. */
export type Deep =
  /** Answers at once. */
  | 'answer'
  /** Calls the tool `dig`, which waits until it is told to stop. */
  | 'dig'
  /** Calls a tool again and again, until its budget ends it. */
  | 'spend'
  /** Calls a tool that asks a person, and says what it was answered. */
  | 'ask'
  /** Answers, which a person has to let pass. */
  | 'gate'

/** How the servers ask each other. */
export interface NestedOptions {
  readonly wire: Wire
  readonly mode: AgentMode
  readonly deep: Deep
}

/** Starts them. */
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
  const third = await nestedServer(deepEnsemble(deep, dig, { asking, answered }), { clock })
  const below = agentTool({
    ...addressOf(third, wire),
    name: 'deep',
    description: 'Asks the third server',
    mode,
    timeoutMs: 60_000,
  })
  const second = await nestedServer(relay('middle', below))
  const middle = agentTool({
    agent: `${second.url}/agents/middle`,
    wire: 'a2a',
    name: 'middle',
    description: 'Asks the second server',
    mode,
    timeoutMs: 60_000,
  })
  const first = await nestedServer(relay('top', middle))
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

function addressOf({ url }: NestedServer, wire: Wire) {
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

/** An ensemble whose agent asks a tool once, and says what it says. */
function relay(name: string, tool: AgentTool): Ensemble {
  return ensemble({
    name,
    tasks: [task({ name, description: FIND, tools: [tool] })],
    model: asks(tool, 1),
  })
}

const FIND = 'Find {input}'

/** A model that calls a tool so often, and then says what it said last. */
function asks({ name }: Pick<AgentTool, 'name'>, times: number): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const said = messages.filter(({ role }) => role === 'tool')
    return said.length < times
      ? { toolCalls: [{ name, arguments: { input: 'gold' } }], usage: USAGE }
      : { text: said.at(-1)?.content ?? 'Found it', usage: USAGE }
  })
}

/** More calls of a tool than any budget here allows. */
const MANY = 8

interface Signs {
  readonly asking: PromiseWithResolvers<void>
  readonly answered: PromiseWithResolvers<void>
}

function deepEnsemble(deep: Deep, dig: AgentTool, { asking, answered }: Signs): Ensemble {
  const spade = defineTextTool({ name: 'spade', description: 'Digs', execute: () => 'Earth' })
  // As `human_input` of the built-in tools asks.
  const ask = defineTextTool({
    name: 'ask',
    description: 'Asks a person',
    async execute(_, { requestAnswer }) {
      asking.resolve()
      const answer = await requestAnswer('Where is it?', { timeoutMs: 60_000 })
      return answer.answered ? `There: ${answer.value}` : 'Nobody knows'
    },
  })
  const tool = { answer: spade, gate: spade, spend: spade, dig, ask }[deep]
  const times = { answer: 0, gate: 0, spend: MANY, dig: 1, ask: 1 }[deep]
  const review = { prompt: 'Is it gold?', timeoutMs: 60_000 }
  const one = task({
    name: 'deep',
    description: FIND,
    tools: [tool],
    ...(deep === 'gate' ? { review } : {}),
  })
  const model = asks(tool, times)
  const told: ChatModel = {
    ...model,
    stream(request, options) {
      answered.resolve()
      return model.stream(request, options)
    },
  }
  return ensemble({ name: 'deep', tasks: [one], model: told })
}

async function nestedServer(
  served: Ensemble,
  more: { readonly clock?: FakeClock } = {},
): Promise<NestedServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-nested-'))
  const options = { logger: silentLogger, prices }
  const runs = new RunService(sqliteRunStorage(path), [served], options)
  const server = await serveControlApi(
    { runs, tools: toolCatalog([]), models: modelCatalog({}), logger: silentLogger, ...more },
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
      const kept = run === undefined ? undefined : await runs.record(run.runId)
      if (kept === undefined) throw new Error('There is no run')
      return kept
    },
    async ended(runId) {
      const result = await event(runId, 'run_result')
      if (result.type !== 'run_result') throw new Error('Not the result')
      return result
    },
    async asked(runId) {
      await event(runId, 'review_requested')
      const [review] = await runs.openReviews({ runId })
      if (review === undefined) throw new Error('No review is open')
      return review
    },
    async close() {
      await runs.close({ drainTimeoutMs: 5_000 })
      await server.close()
      rmSync(path, { recursive: true })
    },
  }
}
