/** The events and the step of an answered model turn. */
import { isoNow } from '@tutti/core/internal'

import { sumCostUsd } from '../usage/usage.ts'
import { readTokens } from '../usage/tokens.ts'
import { toWireCall } from './event-messages.ts'
import { computeRequestDigest, findMissingTools, type DigestedRequest } from './request-digest.ts'

import type { ModelReply } from '../model/chat-model.ts'
import type { CountedUse } from '../usage/budget.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { AgentStep } from './step.ts'
import type { TurnReasoning } from './turn-reasoning.ts'
import type { RunEventOf } from '@tutti/protocol'
import type { CostEstimate } from '@tutti/protocol/internal'

/** An answered model turn. */
export interface ModelTurn {
  readonly iterationIndex: number
  readonly model: string
  readonly reply: ModelReply
  readonly step: AgentStep
  readonly latencyMs: number
  readonly cost: CostEstimate | undefined
  /** Usage that budgets count; undefined if the provider reported both counts of tokens. */
  readonly counted: CountedUse | undefined
  /** Ids of the directives that the call delivered. */
  readonly directiveIds: readonly string[]
  /** Request of the call. */
  readonly question: DigestedRequest
  /** Reasoning of the answered call. It is only in the event: the engine never needs it again. */
  readonly reasoning: TurnReasoning
}

/**
 * Counts a turn and records its step and its event. Returns a promise that resolves when they are durable;
 * undefined in a run that records no steps.
 */
export function recordTurn(scope: TaskScope, turn: ModelTurn): Promise<void> | undefined {
  const { reply, latencyMs, cost } = turn
  scope.totals.addModelCall({ usage: reply.usage, cost, latencyMs })
  const event = createTurnCompleted(scope, turn)
  let recorded: Promise<void> | undefined
  if (scope.run.recordsSteps) recorded = scope.commit(createTurnStep(turn), event)
  else scope.emit(event)
  emitMetrics(scope)
  return recorded
}

function createTurnStep(turn: ModelTurn): NewTaskStep {
  const { iterationIndex, reply, latencyMs, cost, counted, directiveIds, question } = turn
  const unknownTools = findMissingTools(reply, question.tools)
  return {
    kind: 'model_turn',
    iterationIndex,
    reply,
    latencyMs,
    directiveIds,
    ...(counted === undefined ? {} : { counted }),
    requestDigest: computeRequestDigest(question),
    ...(unknownTools === undefined ? {} : { unknownTools }),
    ...(cost === undefined ? {} : { cost }),
  }
}

function createTurnCompleted(
  { identity, taskLabel: taskDescription, run }: TaskScope,
  { iterationIndex, model, reply, step, latencyMs, cost, counted, reasoning }: ModelTurn,
): RunEventOf<'llm_iteration_completed'> {
  const { taskIndex, taskName, agentRole, attempt } = identity
  const { inputTokens, outputTokens } = readTokens(reply.usage)
  const event: RunEventOf<'llm_iteration_completed'> = {
    type: 'llm_iteration_completed',
    agentRole,
    taskDescription,
    iterationIndex,
    responseType: step.kind === 'call_tools' ? 'TOOL_CALLS' : 'FINAL_ANSWER',
    inputTokens,
    outputTokens,
    latencyMs,
    taskName,
    taskIndex,
    attempt,
    model,
    completedAt: isoNow(run.clock),
    finishReason: reply.finishReason ?? 'unknown',
  }
  if (reply.text !== '') event.responseText = reply.text
  if (step.kind === 'call_tools') event.toolRequests = step.calls.map(toWireCall)
  if (cost !== undefined) event.costUsd = sumCostUsd(cost)
  if (reply.refusal !== undefined) event.refusal = reply.refusal
  const { cachedInputTokens, cacheWriteInputTokens, reasoningTokens } = reply.usage ?? {}
  if (cachedInputTokens !== undefined) event.cachedInputTokens = cachedInputTokens
  if (cacheWriteInputTokens !== undefined) event.cacheWriteInputTokens = cacheWriteInputTokens
  if (counted !== undefined) event.countedTokens = counted.tokens
  if (reasoningTokens !== undefined) event.reasoningTokens = reasoningTokens
  if (reasoning.text !== '') event.reasoning = reasoning.text
  if (reasoning.isTruncated) event.reasoningTruncated = true
  return event
}

/** Emits what the attempt has used so far. */
function emitMetrics(scope: TaskScope): void {
  const { identity, totals } = scope
  const { agentRole, taskIndex, taskName, attempt } = identity
  const { cachedInputTokens, reasoningTokens } = totals
  const { inputTokens, outputTokens } = totals.tokens
  const costEstimate = totals.costText()
  const event: RunEventOf<'metrics_snapshot'> = {
    type: 'metrics_snapshot',
    agentRole,
    taskIndex,
    inputTokens,
    outputTokens,
    llmLatencyMs: totals.llmLatencyMs,
    toolExecutionTimeMs: totals.toolExecutionTimeMs,
    iterationCount: totals.iterations,
    taskName,
    attempt,
  }
  if (costEstimate !== undefined) event.costEstimate = costEstimate
  if (cachedInputTokens !== undefined) event.cachedInputTokens = cachedInputTokens
  if (reasoningTokens !== undefined) event.reasoningTokens = reasoningTokens
  scope.emit(event)
}
