/** Models and tools for interrupted runs; they depend only on their input. */
import { defineTextTool, TuttiError, type AgentTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { scriptedModel, type ScriptedReply } from './testing.ts'

import type { Process } from './interrupt-everywhere.ts'
import type { ChatModel, Message, ModelRequest } from '../src/adapter.ts'
import type { RunReviewer, ReviewAnswer } from '../src/index.ts'
import type { OpenReview } from '../src/internal.ts'

/** Request of a model, as a script reads it. */
export interface Question {
  /** Number of answered turns of this conversation. */
  readonly turn: number
  /** Text of the first prompt. */
  readonly prompt: string
  /** Text of the last message. */
  readonly last: string
  readonly messages: readonly Message[]
}

/** Options of the model of a scenario. */
export interface ThinkerOptions {
  readonly name?: string
  /** Time per word in milliseconds. @default 5 */
  readonly ms?: number
}

/** Returns a model whose answer depends only on its request. */
export function createThinker(
  { clock }: Process,
  answer: (question: Question) => string | ScriptedReply | Error,
  { name = 'thinker', ms = 5 }: ThinkerOptions = {},
): ChatModel {
  const script = ({ messages }: ModelRequest): string | ScriptedReply | Error =>
    answer({
      turn: messages.filter(({ role }) => role === 'assistant').length,
      prompt: messages[1]?.content ?? '',
      last: messages.at(-1)?.content ?? '',
      messages,
    })
  return scriptedModel(script, { clock, delayMs: ms, name })
}

/** Returns a reply with tool calls: `[id, tool name, input]` each. */
export function requestCalls(
  ...calls: readonly (readonly [id: string, name: string, input: string | object])[]
): ScriptedReply {
  return {
    text: 'Hm',
    toolCalls: calls.map(([id, name, input]) => ({
      id,
      name,
      arguments: typeof input === 'string' ? { input } : input,
    })),
  }
}

/** Returns the outputs of the context in a prompt. */
export function readContext(prompt: string): string {
  return [...prompt.matchAll(/\n(.+)\n---/g)].map(([, output]) => output).join('+')
}

export interface ScenarioToolOptions {
  readonly idempotent?: boolean
  readonly ms?: number
  readonly requireApproval?: boolean
}

/** Returns a tool that records each call in the external state, takes `ms`, and returns its input. */
export function createWorldTool(
  process: Process,
  name: string,
  { idempotent = true, ms = 7, requireApproval = false }: ScenarioToolOptions = {},
): AgentTool {
  return defineTextTool({
    name,
    description: `Returns what ${name} knows`,
    idempotent,
    requireApproval,
    async execute(input, { idempotencyKey, signal }) {
      process.call(name, idempotencyKey)
      await sleep(process.clock, ms, signal)
      signal.throwIfAborted()
      return `${name}:${input}`
    },
  })
}

/** Returns a reviewer that answers with `decide` after 20 ms and records the reviews that it receives. */
export function createWorldReviewer(
  { clock, world }: Process,
  decide: (review: OpenReview) => ReviewAnswer,
): RunReviewer {
  return {
    async decide(review, signal) {
      world.asked.push(review.reviewId)
      await sleep(clock, 20, signal)
      return decide(review)
    },
  }
}

/** Returns an error after which a model call is not retried, but a task is. */
export function createTaskFailure(message: string): TuttiError {
  return new TuttiError('TASK_FAILED', message)
}
