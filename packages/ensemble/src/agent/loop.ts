/**
 * The agent loop: one conversation with a model until it answers.
 *
 *   messages ─▶ model turn ─▶ stepAfter ─▶ answer ─▶ fits its schema ─▶ out
 *      ▲                         │                        │ no
 *      ├── results ◀─ tool calls ◀┘                        │
 *      ├── what is wrong with it ◀────────────────────────┘
 *      └── an extra call ◀── `recovery.ts` ◀── ended early
 *
 * It decides nothing itself: `step.ts` says what follows a reply, `ask-model.ts` gets replies and
 * `call-tools.ts` results. It knows nothing of other tasks, of stores or of the wire's readers: it emits
 * events, records steps, and returns. A turn or a call that an earlier process recorded is replayed.
 *
 * ENS-L4 `maxIterations` counts model turns; at the limit one more call, without tools, asks for the answer.
 *    Extra calls for an answer that ended early do not count.
 * ENS-L18 An answer that does not match the schema of its task goes back to the model with every problem, up
 *    to `outputRetries` times; then the loop ends with OUTPUT_INVALID.
 * ENS-L19 A turn that is recorded in a step is not requested again, and emits nothing.
 */
import { isoNow, TuttiError } from '@tutti/core'

import { askModel } from './ask-model.ts'
import { callTools, toolSpecifications, type TaskTools } from './call-tools.ts'
import {
  directiveMessage,
  FINAL_ANSWER_REQUEST,
  firstMessages,
  type PromptParts,
} from './prompt.ts'
import { Recovery } from './recovery.ts'
import { stepAfter, turnKind, type AgentStep, type TurnKind } from './step.ts'
import { correctionRequest } from '../output/structured-output.ts'
import { recordTurn } from './turn-events.ts'

import type { ModelChain } from './model-chain.ts'
import type { Message, ModelReply, ToolSpecification } from '../model/chat-model.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { Directive } from '../ports/run-step.ts'
import type { Directives } from '../steering/directives.ts'
import type { FinishReason, MessagePart } from '@tutti/protocol'

/** The input of an agent loop. */
export interface AgentLoopInput extends TaskTools {
  readonly scope: TaskScope
  readonly models: ModelChain
  readonly directives: Directives
  readonly prompt: Omit<PromptParts, 'directives'>
}

/** The answer of a task, by its agent or its handler. */
export interface TaskAnswer {
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
  /** Files, URLs and data of a handler. */
  readonly parts?: readonly MessagePart[]
  /** Whether the answer was forced by the iteration limit. */
  readonly iterationLimitReached: boolean
  /** Model turns that it took. */
  readonly turns: number
  /** Finish reason of the last answer of the model; absent when no model was asked. */
  readonly finishReason?: FinishReason
}

/**
 * Runs one agent until it answers.
 *
 * @throws {TuttiError} OUTPUT_INVALID, MODEL_REFUSED, CONTENT_FILTERED, OUTPUT_TRUNCATED, what {@link askModel} and {@link callTools} throw, or why the work was
 * stopped.
 */
export async function runAgentLoop(input: AgentLoopInput): Promise<TaskAnswer> {
  const { scope, models, tools, tooling } = input
  const { maxIterations } = scope.task
  const specifications = toolSpecifications(tools)
  const conversation = new Conversation(input)
  const recovery = new Recovery(scope, models)
  for (let iterationIndex = 0; ; iterationIndex += 1) {
    const counted = iterationIndex - recovery.extraTurns
    const turn = turnKind(counted, maxIterations)
    if (counted === maxIterations && !recovery.isExtra) conversation.say(FINAL_ANSWER_REQUEST)
    const taken = { iterationIndex, turn, specifications, conversation, recovery }
    const { reply, step, model } =
      takeEarlierTurn(input, taken) ?? (await takeNewTurn(input, taken))
    if (step.kind === 'call_tools') {
      recovery.finish('')
      conversation.add(reply, step)
      conversation.addResults(
        await callTools(scope, { iterationIndex, calls: step.calls, tools, tooling }),
      )
      continue
    }
    const text =
      step.kind === 'answer'
        ? recovery.finish(step.text)
        : recovery.take({ reason: step.reason, reply, model }, conversation)
    if (text === undefined) continue
    conversation.add(reply, step)
    const answer = await readAnswer(scope, text, conversation.corrections)
    if (answer.ok) {
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

/** The messages of one loop, as they grow. */
class Conversation {
  readonly #prompt: AgentLoopInput['prompt']
  #messages: Message[] = []
  #begun = false
  corrections = 0

  constructor({ prompt }: AgentLoopInput) {
    this.#prompt = prompt
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  /** Adds directives: to the first prompt, or after the messages so far. */
  addDirectives(directives: readonly Directive[]): void {
    if (!this.#begun) {
      this.#messages = [...firstMessages({ ...this.#prompt, directives }), ...this.#messages]
      this.#begun = true
    } else if (directives.length > 0) {
      this.#messages.push(directiveMessage(directives))
    }
  }

  say(content: string): void {
    this.#messages.push({ role: 'user', content })
  }

  add({ text, providerContent, toolCalls }: ModelReply, step: AgentStep): void {
    // What a provider wants to see again of calls that are not made would be calls without results.
    const isWhole = step.kind === 'call_tools' || toolCalls.length === 0
    this.#messages.push({
      role: 'assistant',
      content: text,
      toolCalls: step.kind === 'call_tools' ? step.calls : [],
      ...(providerContent === undefined || !isWhole ? {} : { providerContent }),
    })
  }

  /** Adds a text that the model has not finished; what its provider wants to see again is not whole. */
  addPart(text: string): void {
    this.#messages.push({ role: 'assistant', content: text, toolCalls: [] })
  }

  addResults(results: readonly Message[]): void {
    this.#messages.push(...results)
  }

  correct(problem: string, maxAttempts: number): void {
    this.corrections += 1
    this.say(correctionRequest(problem, { attempt: this.corrections, maxAttempts }))
  }
}

interface Turn {
  readonly iterationIndex: number
  readonly turn: TurnKind
  readonly specifications: readonly ToolSpecification[]
  readonly conversation: Conversation
  readonly recovery: Recovery
}

interface TurnEnd {
  readonly reply: ModelReply
  readonly step: AgentStep
  /** Label of the model that replied. */
  readonly model: string
}

/** Replays the turn that an earlier process recorded; undefined when there is none. */
function takeEarlierTurn(
  { scope, models, directives }: AgentLoopInput,
  { iterationIndex, turn, conversation }: Turn,
): TurnEnd | undefined {
  const recorded = scope.replay('model_turn', (step) => step.iterationIndex === iterationIndex)
  if (recorded === undefined) return undefined
  const { reply, directiveIds } = recorded
  conversation.addDirectives(directives.byId(directiveIds))
  return { reply, step: stepAfter(reply, turn), model: models.current().label }
}

async function takeNewTurn(
  { scope, models, directives }: AgentLoopInput,
  { iterationIndex, turn, specifications, conversation, recovery }: Turn,
): Promise<TurnEnd> {
  const directiveIds: string[] = []
  const deliver = (): void => {
    directiveIds.push(...deliverDirectives(scope, directives, { conversation, iterationIndex }))
  }
  deliver()
  const answer = await askModel(scope, models, {
    iterationIndex,
    messages: conversation.messages,
    tools: specifications,
    toolChoice: turn === 'final' ? 'none' : 'auto',
    beforeRetry: deliver,
    output: scope.task.outputReader,
    maxOutputTokens: recovery.maxOutputTokens,
  }).catch((error: unknown) => {
    throw recovery.errorOf(error)
  })
  const { reply, model, latencyMs, cost } = answer
  const step = stepAfter(reply, turn)
  await recordTurn(scope, { iterationIndex, model, reply, step, latencyMs, cost, directiveIds })
  return { reply, step, model }
}

const NO_IDS: readonly string[] = []

/** Adds the pending directives of this task to the conversation; returns their ids. */
function deliverDirectives(
  scope: TaskScope,
  pending: Directives,
  { conversation, iterationIndex }: Pick<Turn, 'conversation' | 'iterationIndex'>,
): readonly string[] {
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

/** Reads an answer by the schema of its task; one that does not fit may be corrected so many times. */
async function readAnswer(
  { task }: TaskScope,
  text: string,
  corrections: number,
): Promise<Reading> {
  if (task.outputReader === undefined) return { ok: true, value: { output: text } }
  const reading = await task.outputReader.read(text)
  if (reading.ok) {
    const { value } = reading
    return { ok: true, value: { output: outputText(value), structured: value } }
  }
  if (corrections < task.outputRetries) return reading
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The answer of task "${task.name}" does not fit its schema after ${corrections} corrections: ${reading.problem}`,
    { retryable: true, details: { problem: reading.problem, answer: text } },
  )
}

/** A value of a schema as the text that later tasks are given. */
export function outputText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
