/** Records an answered model turn: its events and its step. */
import { isoNow } from '@tutti/core/internal'

import { sumCostUsd } from '../usage/usage.ts'
import { readTokens } from '../usage/tokens.ts'
import { toWireCall } from './event-messages.ts'
import { computeRequestDigest, findMissingTools } from './request-digest.ts'
import { decideStep, type AgentStep } from './step.ts'

import type { ModelAnswer } from './ask-model.ts'
import type { ModelReply } from '../model/chat-model.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { RunEventOf } from '@tutti/protocol'

/** A model turn that has ended. */
export interface ModelTurn {
  readonly reply: ModelReply
  readonly step: AgentStep
  /** Label of the model that replied. */
  readonly model: string
  /** Resolves when the turn is durable; undefined if it is, or in a run that records no steps. */
  readonly recorded?: Promise<void> | undefined
}

/** Counts an answer, and records its step and its event. */
export function recordTurn(scope: TaskScope, answer: ModelAnswer): ModelTurn {
  const { question, reply, model } = answer
  const step = decideStep(reply, question.toolChoice)
  scope.totals.addModelCall({ usage: reply.usage, cost: answer.cost, latencyMs: answer.latencyMs })
  const event = createTurnCompleted(scope, answer, step)
  let recorded: Promise<void> | undefined
  if (scope.run.recordsSteps) recorded = scope.commit(createTurnStep(answer), event)
  else scope.emit(event)
  emitMetrics(scope)
  return { reply, step, model, recorded }
}

function createTurnStep({ question, reply, latencyMs, cost, counted }: ModelAnswer): NewTaskStep {
  const unknownTools = findMissingTools(reply, question.tools)
  return {
    kind: 'model_turn',
    iterationIndex: question.iterationIndex,
    reply,
    latencyMs,
    directiveIds: question.directiveIds,
    ...(counted === undefined ? {} : { counted }),
    requestDigest: computeRequestDigest(question),
    ...(unknownTools === undefined ? {} : { unknownTools }),
    ...(cost === undefined ? {} : { cost }),
  }
}

function createTurnCompleted(
  { identity, taskLabel: taskDescription, run }: TaskScope,
  { question, model, reply, latencyMs, cost, counted, reasoning }: ModelAnswer,
  step: AgentStep,
): RunEventOf<'llm_iteration_completed'> {
  const { taskIndex, taskName, agentRole, attempt } = identity
  const { inputTokens, outputTokens } = readTokens(reply.usage)
  const event: RunEventOf<'llm_iteration_completed'> = {
    type: 'llm_iteration_completed',
    agentRole,
    taskDescription,
    iterationIndex: question.iterationIndex,
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
  if (step.kind === 'call_tools') event.toolRequests = step.calls.map((call) => toWireCall(call))
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
