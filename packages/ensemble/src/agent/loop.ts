/**
 * The agent loop: one conversation with a model until it answers.
 *
 *   messages ─▶ model call ─▶ stepAfter ─▶ answer ─▶ out
 *      ▲                          │
 *      └── results ◀─ tool calls ◀┘
 *
 * It decides nothing itself: `step.ts` says what follows a reply, and `call-tools.ts` makes the calls. It knows nothing of other tasks, of
 * stores or of the wire's readers: it emits events and returns.
 *
 * L1 Each model call emits llm_iteration_started, then its tokens, then llm_iteration_completed.
 * L4 `maxIterations` counts model turns; at the limit one more call, without tools, asks for the answer.
 * L5 An aborted signal ends the loop with CANCELLED; nothing is emitted for the call that was cut off.
 */
import { isoNow } from '@tutti/core'

import { callModel } from '../model/call-model.ts'
import { addTokens, tokensOfCall } from '../tokens.ts'
import { callTools } from './call-tools.ts'
import { FINAL_ANSWER_REQUEST } from './prompt.ts'
import { stepAfter, turnKind, type AgentStep, type TurnKind } from './step.ts'

import type { ChatModel, Message, ModelReply } from '../model/chat-model.ts'
import type { TaskScope } from '../task-scope.ts'
import type { LoopTotals } from './loop-totals.ts'
import type { ToolCall } from '@tutti/core'
import type { RunEventOf } from '@tutti/protocol'

/** Messages of a conversation that `llm_iteration_started` shows; the wire's limit. */
const MESSAGES_SHOWN = 20

/** What a loop starts from. */
export interface AgentLoopInput {
  readonly scope: TaskScope
  readonly model: ChatModel
  readonly messages: readonly Message[]
  /** Where the loop counts what it uses, also when it does not come to an answer. */
  readonly totals: LoopTotals
}

/** What a loop came to. */
export interface AgentLoopResult {
  readonly output: string
  /** Whether the answer was forced by the iteration limit. */
  readonly iterationLimitReached: boolean
}

/**
 * Runs one agent until it answers.
 *
 * @throws {TuttiError} MODEL_FAILED when a model call fails, CANCELLED when the signal aborts, and what
 * {@link callTools} throws.
 */
export async function runAgentLoop(input: AgentLoopInput): Promise<AgentLoopResult> {
  const { scope, totals } = input
  const messages = [...input.messages]
  for (let iterationIndex = 0; ; iterationIndex += 1) {
    const turn = turnKind(iterationIndex, scope.task.maxIterations)
    if (turn === 'final') messages.push({ role: 'user', content: FINAL_ANSWER_REQUEST })
    const { reply, step } = await callTurn(input, { iterationIndex, turn, messages })
    if (step.kind === 'answer') {
      return { output: step.text, iterationLimitReached: turn === 'final' }
    }
    messages.push({ role: 'assistant', content: reply.text, toolCalls: step.calls })
    messages.push(...(await callTools(scope, { iterationIndex, calls: step.calls, totals })))
  }
}

interface Turn {
  readonly iterationIndex: number
  readonly turn: TurnKind
  readonly messages: readonly Message[]
}

async function callTurn(
  { scope, model, totals }: AgentLoopInput,
  { iterationIndex, turn, messages }: Turn,
): Promise<{ readonly reply: ModelReply; readonly step: AgentStep }> {
  const { identity, clock, emit } = scope
  const turnIdentity = { ...identity, iterationIndex, model: `${model.provider}:${model.name}` }
  emit({
    type: 'llm_iteration_started',
    ...turnIdentity,
    messages: messages.slice(-MESSAGES_SHOWN).map(toWireMessage),
    totalMessageCount: messages.length,
  })
  const { reply, latencyMs } = await callModel(
    model,
    { messages, tools: scope.toolSpecifications, toolChoice: turn === 'final' ? 'none' : 'auto' },
    {
      signal: scope.signal,
      clock,
      onText: (token) => {
        emit({ type: 'token', token, ...identity, iterationIndex, sentAt: isoNow(clock) })
      },
    },
  )
  const step = stepAfter(reply, turn)
  const used = tokensOfCall(reply.usage)
  totals.tokens = addTokens([totals.tokens, used])
  totals.llmLatencyMs += latencyMs
  totals.iterations += 1
  emit({
    type: 'llm_iteration_completed',
    ...turnIdentity,
    ...responseOf(reply, step),
    inputTokens: Math.max(0, used.inputTokens),
    outputTokens: Math.max(0, used.outputTokens),
    latencyMs,
  })
  emitMetrics(scope, totals)
  return { reply, step }
}

function responseOf(
  reply: ModelReply,
  step: AgentStep,
): Pick<RunEventOf<'llm_iteration_completed'>, 'responseType' | 'responseText' | 'toolRequests'> {
  const text = reply.text === '' ? {} : { responseText: reply.text }
  if (step.kind === 'answer') return { responseType: 'FINAL_ANSWER', ...text }
  return { responseType: 'TOOL_CALLS', ...text, toolRequests: step.calls.map(toWireCall) }
}

function emitMetrics(scope: TaskScope, totals: LoopTotals): void {
  const { agentRole, taskIndex, taskName, attempt } = scope.identity
  scope.emit({
    type: 'metrics_snapshot',
    agentRole,
    taskIndex,
    taskName,
    attempt,
    inputTokens: Math.max(0, totals.tokens.inputTokens),
    outputTokens: Math.max(0, totals.tokens.outputTokens),
    llmLatencyMs: totals.llmLatencyMs,
    toolExecutionTimeMs: totals.toolExecutionTimeMs,
    iterationCount: totals.iterations,
  })
}

function toWireCall(call: ToolCall): { name: string; arguments: string } {
  return { name: call.name, arguments: call.arguments }
}

type WireMessage = RunEventOf<'llm_iteration_started'>['messages'][number]

function toWireMessage(message: Message): WireMessage {
  return {
    role: message.role,
    content: message.content,
    toolCalls: message.role === 'assistant' ? message.toolCalls.map(toWireCall) : null,
    toolName: message.role === 'tool' ? message.toolName : null,
  }
}
