/**
 * The agent loop: one conversation with a model, until it answers or hands the conversation off.
 *
 *   messages ─▶ model turn ─▶ decideStep ─▶ answer ─▶ matches schema ─▶ out
 *      ▲                          │                        │ no
 *      ├── results ◀─ tool calls ◀┘                        │
 *      ├── its problems ◀──────────────────────────────────┘
 *      └── an extra call ◀── `recovery.ts` ◀── ended early, or empty
 *
 * `step.ts` decides what follows a reply, `ask-model.ts` gets replies, and `call-tools.ts` gets results of tool
 * calls. After a handoff, another agent gives the answer. The loop has no access to other tasks, stores or readers: it emits
 * events, records steps, and returns. A turn or a call that an earlier process recorded is replayed.
 *
 * ENS-L4 `maxIterations` counts model turns; at the limit one more call, without tools, asks for the answer.
 *    Extra calls for an answer that ended early, or was empty, do not count.
 * ENS-L18 An answer that does not match the schema of its task goes back to the model with every problem, up
 *    to `outputRetries` times; then the loop ends with OUTPUT_INVALID.
 * ENS-L19 A turn that is recorded in a step is not requested again, and emits nothing.
 */
import { TuttiError } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'

import { askModel, type ModelQuestion } from './ask-model.ts'
import { callTools, listToolSpecifications, type TaskTools } from './call-tools.ts'
import {
  createDirectiveMessage,
  FINAL_ANSWER_REQUEST,
  createFirstMessages,
  type PromptParts,
} from './prompt.ts'
import { Recovery } from './recovery.ts'
import { decideStep, decideToolChoice, type AgentStep, type ToolChoice } from './step.ts'
import { createCorrectionRequest, type OutputReader } from '../output/structured-output.ts'
import { assertRequestUnchanged, assertToolsKnown } from './request-digest.ts'
import { recordTurn, type ModelTurn } from './turn-events.ts'

import type { Task } from '../definition/task.ts'
import type { Handoffs } from '../hierarchy/handoffs.ts'
import type { ModelChain } from './model-chain.ts'
import type { Message, ModelReply, ToolSpecification } from '../model/chat-model.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { Directive } from '../ports/run-step.ts'
import type { Directives } from '../steering/directives.ts'
import type { FinishReason, MessagePart } from '@tutti/protocol/internal'

export interface AgentLoopInput extends TaskTools {
  readonly scope: TaskScope
  readonly models: ModelChain
  readonly directives: Directives
  readonly prompt: Omit<PromptParts, 'directives'>
  /** Whether nothing follows an answer but the end of the attempt, whose step is recorded with that of the answer. */
  readonly endsWithAnswer: boolean
  /** Handoffs of the agent; undefined if it has none. */
  readonly handoffs?: Handoffs | undefined
  /** Throws if the agent must do more work before it answers. */
  assertMayAnswer(): void
}

/** Answer of a task, by its agent or its handler. */
export interface TaskAnswer {
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
  /** Files, URLs and data that a handler returned. */
  readonly parts?: readonly MessagePart[]
  /** Whether the answer was requested because of the iteration limit. */
  readonly iterationLimitReached: boolean
  /** Number of model turns. */
  readonly turns: number
  /** Finish reason of the model's last answer; absent if no model was called. */
  readonly finishReason?: FinishReason
  /** Present if the request of a fork gave the answer. */
  readonly isGiven?: true
}

/**
 * Runs one agent until it answers.
 *
 * @throws {TuttiError} OUTPUT_INVALID, OUTPUT_EMPTY, MODEL_REFUSED, CONTENT_FILTERED, OUTPUT_TRUNCATED, the errors of
 * {@link askModel} and {@link callTools}, or the reason why the work was stopped.
 */
export async function runAgentLoop(input: AgentLoopInput): Promise<TaskAnswer> {
  const { scope, models, tools, tooling, handoffs } = input
  const { maxIterations } = scope.task
  const specifications = listToolSpecifications(tools)
  const conversation = new Conversation(input)
  const recovery = new Recovery(scope, models)
  for (let iterationIndex = 0; ; iterationIndex += 1) {
    const counted = iterationIndex - recovery.extraTurns
    const toolChoice = decideToolChoice(counted, maxIterations)
    if (counted === maxIterations && !recovery.isExtra)
      conversation.addRequest(FINAL_ANSWER_REQUEST)
    const next = { iterationIndex, toolChoice, specifications, conversation, recovery }
    let turn = takeEarlierTurn(input, next)
    try {
      turn ??= recordTurn(scope, await askModel(scope, models, createQuestion(input, next)))
    } catch (error) {
      throw recovery.toError(error)
    }
    const { reply, step, model, recorded } = turn
    const endsAttempt =
      input.endsWithAnswer && step.kind === 'answer' && !isUnusable(scope.task, step.text)
    if (endsAttempt) recorded?.catch(() => undefined)
    else if (recorded !== undefined) await recorded
    if (step.kind === 'call_tools') {
      recovery.beginCalls(reply)
      conversation.add(reply, step)
      const { calls } = step
      handoffs?.beginTurn(iterationIndex, calls)
      const results = await callTools(scope, { iterationIndex, calls, tools, tooling })
      conversation.addResults(results)
      const taken = handoffs?.find(results)
      if (handoffs === undefined || taken === undefined) continue
      const answer = await handoffs.perform(taken, conversation.messages)
      // This agent handed off within its limit; the task of the next agent has its own.
      return { ...answer, iterationLimitReached: false, turns: iterationIndex + 1 }
    }
    const text =
      step.kind === 'answer'
        ? recovery.finish(step.text)
        : recovery.take({ reason: step.reason, reply, model }, conversation)
    if (text === undefined) continue
    if (isUnusable(scope.task, text)) {
      // Without the empty message, which some providers reject.
      recovery.takeEmpty(model, conversation)
      continue
    }
    conversation.add(reply, step)
    const reading = readAnswer(scope, text, conversation.corrections)
    const answer = reading instanceof Promise ? await reading : reading
    if (answer.ok) {
      input.assertMayAnswer()
      const iterationLimitReached = counted >= maxIterations
      const { finishReason = 'unknown' } = reply
      return {
        ...answer.value,
        iterationLimitReached,
        turns: iterationIndex + 1,
        finishReason,
      }
    }
    conversation.correct(answer.problem, scope.task.outputRetries)
  }
}

/** Whether an answer is empty and the task needs one. */
function isUnusable({ allowEmptyOutput }: Task, text: string): boolean {
  return allowEmptyOutput !== true && text.trim() === ''
}

/** Messages of one loop. */
class Conversation {
  readonly #prompt: AgentLoopInput['prompt']
  readonly #messages: Message[] = []
  #begun = false
  corrections = 0

  constructor({ prompt }: AgentLoopInput) {
    this.#prompt = prompt
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  /** Adds directives to the first prompt, or as a message after the messages so far. */
  addDirectives(directives: readonly Directive[]): void {
    if (!this.#begun) {
      this.#messages.unshift(...createFirstMessages({ ...this.#prompt, directives }))
      this.#begun = true
    } else if (directives.length > 0) {
      this.#messages.push(createDirectiveMessage(directives))
    }
  }

  addRequest(content: string): void {
    this.#messages.push({ role: 'user', content })
  }

  add({ text, providerContent, toolCalls }: ModelReply, step: AgentStep): void {
    // Provider content may refer to tool calls; without their results, the provider would reject it.
    const isWhole = step.kind === 'call_tools' || toolCalls.length === 0
    const made = step.kind === 'call_tools' ? step.calls : []
    const message: Message = { role: 'assistant', content: text, toolCalls: made }
    this.#messages.push(
      providerContent === undefined || !isWhole ? message : { ...message, providerContent },
    )
  }

  /** Adds the text of an unfinished answer, without the provider's content, which may be incomplete. */
  addPart(text: string): void {
    this.#messages.push({ role: 'assistant', content: text, toolCalls: [] })
  }

  addResults(results: readonly Message[]): void {
    this.#messages.push(...results)
  }

  correct(problem: string, maxAttempts: number): void {
    this.corrections += 1
    this.addRequest(createCorrectionRequest(problem, { attempt: this.corrections, maxAttempts }))
  }
}

/** A turn that begins. */
interface NextTurn {
  readonly iterationIndex: number
  readonly toolChoice: ToolChoice
  readonly specifications: readonly ToolSpecification[]
  readonly conversation: Conversation
  readonly recovery: Recovery
}

/** Replays a turn that an earlier process recorded; returns undefined if there is none. */
function takeEarlierTurn(
  { scope, models, directives }: AgentLoopInput,
  { iterationIndex, toolChoice, conversation, specifications }: NextTurn,
): ModelTurn | undefined {
  const recorded = scope.replay('model_turn', (step) => step.iterationIndex === iterationIndex)
  if (recorded === undefined) return undefined
  assertToolsKnown(recorded, specifications)
  const { reply, directiveIds } = recorded
  conversation.addDirectives(directives.byId(directiveIds))
  if (scope.run.log.replay === 'frozen') {
    const { messages } = conversation
    const output = scope.task.outputReader
    assertRequestUnchanged(recorded, { messages, tools: specifications, toolChoice, output })
  }
  return { reply, step: decideStep(reply, toolChoice), model: models.current().label }
}

/**
 * Returns the request of a turn, and delivers the directives that reach it.
 *
 * @throws {TuttiError} REPLAY_MISMATCH if the turn must come from the record.
 */
function createQuestion(
  { scope, directives }: AgentLoopInput,
  { iterationIndex, toolChoice, specifications, conversation, recovery }: NextTurn,
): ModelQuestion {
  scope.assertMayCall(`model turn ${iterationIndex}`, 'model')
  const directiveIds: string[] = []
  const deliver = (): void => {
    directiveIds.push(...deliverDirectives(scope, directives, { conversation, iterationIndex }))
  }
  deliver()
  return {
    iterationIndex,
    messages: conversation.messages,
    tools: specifications,
    toolChoice,
    directiveIds,
    beforeRetry: deliver,
    output: scope.task.outputReader,
    maxOutputTokens: recovery.maxOutputTokens,
  }
}

const NO_IDS: readonly string[] = []

/** Adds the pending directives of this task to the conversation and returns their ids. */
function deliverDirectives(
  scope: TaskScope,
  pending: Directives,
  { conversation, iterationIndex }: Pick<NextTurn, 'conversation' | 'iterationIndex'>,
): readonly string[] {
  if (pending.isEmpty) {
    conversation.addDirectives([])
    return NO_IDS
  }
  const { run, task, identity } = scope
  const { agentRole, taskName, taskIndex, attempt } = identity
  const target = { taskName, baseName: task.name, agentRole, attempt }
  const directives = pending.next(target, run.clock.now())
  conversation.addDirectives(directives)
  if (directives.length === 0) return NO_IDS
  const ids = directives.map(({ id }) => id)
  pending.markReached(target, ids)
  for (const directiveId of ids) {
    const deliveredAt = isoNow(run.clock)
    scope.emit({
      type: 'directive_delivered',
      directiveId,
      agentRole,
      taskName,
      taskIndex,
      attempt,
      iterationIndex,
      deliveredAt,
    })
  }
  return ids
}

type Reading =
  | { readonly ok: true; readonly value: Pick<TaskAnswer, 'output' | 'structured'> }
  | { readonly ok: false; readonly problem: string }

/**
 * Reads an answer by the schema of its task; returns no promise if the task has none.
 *
 * @throws {TuttiError} OUTPUT_INVALID if the answer is invalid and all corrections are used.
 */
function readAnswer(
  { task }: TaskScope,
  text: string,
  corrections: number,
): Reading | Promise<Reading> {
  const { outputReader } = task
  return outputReader === undefined
    ? { ok: true, value: { output: text } }
    : readBySchema(task, outputReader, { text, corrections })
}

async function readBySchema(
  { name, outputRetries }: Task,
  reader: OutputReader,
  { text, corrections }: { readonly text: string; readonly corrections: number },
): Promise<Reading> {
  const reading = await reader.read(text)
  if (reading.ok) {
    const { value } = reading
    return { ok: true, value: { output: renderOutput(value), structured: value } }
  }
  if (corrections < outputRetries) return reading
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The answer of task "${name}" does not match its schema after ${corrections} corrections: ${reading.problem}`,
    { retryable: true, details: { problem: reading.problem, answer: text } },
  )
}

/** Returns a structured output as the text that later tasks receive. */
export function renderOutput(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
