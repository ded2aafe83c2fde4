/** Models and tools of runs that are cut off: what they do depends on what they are given alone. */
import { defineTextTool, sleep, TuttiError, type AgentTool } from '@tutti/core'

import { scriptedModel, type ScriptedReply } from './testing.ts'

import type { Process } from './cut-everywhere.ts'
import type {
  ChatModel,
  Message,
  ModelRequest,
  RunReviewer,
  ReviewAnswer,
  OpenReview,
} from '../src/index.ts'

/** What a model is asked, as a script reads it. */
export interface Question {
  /** Turns of this conversation that are answered. */
  readonly turn: number
  /** The text of the first prompt. */
  readonly prompt: string
  /** What the last message says. */
  readonly last: string
  readonly messages: readonly Message[]
}

/** How a model of a scenario thinks. */
export interface ThinkerOptions {
  readonly name?: string
  /** Time for each word. @default 5 */
  readonly ms?: number
}

/** A model whose answer follows from what it is asked. */
export function thinker(
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

/** A reply that asks for calls: `[id, tool name, input]` each. */
export function calling(
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

/** The words that a prompt gives as the outputs of its context. */
export function contextIn(prompt: string): string {
  return [...prompt.matchAll(/\n(.+)\n---/g)].map(([, output]) => output).join('+')
}

/** What a tool of a scenario does. */
export interface ScenarioToolOptions {
  readonly idempotent?: boolean
  readonly ms?: number
  readonly requireApproval?: boolean
}

/** A tool that tells the world of each call, takes its time, and answers with its input. */
export function worldTool(
  process: Process,
  name: string,
  { idempotent = true, ms = 7, requireApproval = false }: ScenarioToolOptions = {},
): AgentTool {
  return defineTextTool({
    name,
    description: `Gives what ${name} knows`,
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

/** A reviewer that takes 20 ms for what `decide` says of a review; it is never asked about one twice. */
export function worldReviewer(
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

/** A failure that a model call is not made again for, and a task is. */
export function passing(message: string): TuttiError {
  return new TuttiError('TASK_FAILED', message)
}
