/** Builds the trace of one attempt at a task, with the traces of the tasks that it delegated. Pure. */
import { formatJavaDuration } from './iso-duration.ts'
import { sumAttempt, toTaskMetrics, type CostShares } from './trace-metrics.ts'

import type {
  WorkSpan,
  TracedAttempt,
  AttemptCall,
  TracedDelegation,
  TracedTurn,
} from './attempts.ts'
import type {
  CaptureMode,
  LlmInteraction,
  LlmMessage,
  TaskTrace,
  ToolCallTrace,
} from '@tutti/protocol/internal'

/** Facts about the run that the traces of its tasks need. */
export interface TraceParts {
  readonly captureMode: CaptureMode
  /** Last attempt at each task, by the name of the task. */
  readonly lastAttempts: ReadonlyMap<string, TracedAttempt>
  readonly shares: CostShares | undefined
  /** End of unfinished work, in milliseconds since 1970. */
  readonly now: number
}

/** Returns the trace of an attempt. */
export function buildTaskTrace(attempt: TracedAttempt, parts: TraceParts): TaskTrace {
  const { started, input, end, turns } = attempt
  const startedAt = Date.parse(started.startedAt)
  const completedAt = findEnd(attempt, parts.now)
  const output = end?.type === 'task_completed' ? end : undefined
  return {
    taskDescription: started.taskDescription,
    expectedOutput: input?.expectedOutput ?? '',
    agentRole: started.agentRole,
    ...formatSpan({ startedAt, completedAt }),
    duration: formatJavaDuration(end?.durationMs ?? completedAt - startedAt),
    prompts: toPrompts(turns[0], parts),
    llmInteractions: turns.map((turn) => toInteraction(turn, parts)),
    delegations: attempt.delegations.map((one) => toDelegation(one, attempt, parts)),
    finalOutput: output?.output ?? null,
    parsedOutput: output?.structuredOutput ?? null,
    metrics: toTaskMetrics(sumAttempt(attempt), parts.shares),
    metadata: {
      taskName: started.taskName,
      taskIndex: started.taskIndex,
      attempt: started.attempt,
      status: end === undefined ? 'RUNNING' : output === undefined ? 'FAILED' : 'COMPLETED',
      ...(attempt.used.costUsd === undefined ? {} : { costUsd: attempt.used.costUsd }),
    },
  }
}

function findEnd({ end, started }: TracedAttempt, now: number): number {
  if (end === undefined) return Math.max(now, Date.parse(started.startedAt))
  return Date.parse(end.type === 'task_completed' ? end.completedAt : end.failedAt)
}

function toPrompts(
  turn: TracedTurn | undefined,
  { captureMode }: TraceParts,
): TaskTrace['prompts'] {
  if (turn === undefined || captureMode === 'OFF') return null
  const { messages } = turn.started
  const textOf = (role: 'system' | 'user'): string =>
    messages.find((message) => message.role === role)?.content ?? ''
  return { systemPrompt: textOf('system'), userPrompt: textOf('user') }
}

function toInteraction(turn: TracedTurn, parts: TraceParts): LlmInteraction {
  const { started, completed, calls } = turn
  return {
    iterationIndex: completed.iterationIndex,
    ...formatSpan(turn),
    latency: formatJavaDuration(completed.latencyMs),
    inputTokens: completed.inputTokens,
    outputTokens: completed.outputTokens,
    responseType: completed.responseType,
    responseText: completed.responseText ?? null,
    toolCalls: calls.map((call) => toToolCall(call, parts)),
    messages: parts.captureMode === 'OFF' ? [] : started.messages.map(toTraceMessage),
    model: completed.model,
    ...(completed.finishReason === undefined ? {} : { finishReason: completed.finishReason }),
    ...(completed.refusal === undefined ? {} : { refusal: completed.refusal }),
    ...(completed.cachedInputTokens === undefined
      ? {}
      : { cachedInputTokens: completed.cachedInputTokens }),
    ...pickReasoning(completed),
  }
}

type TurnReasoning = Pick<LlmInteraction, 'reasoning' | 'reasoningTokens' | 'reasoningTruncated'>

function pickReasoning({
  reasoning,
  reasoningTokens,
  reasoningTruncated,
}: TracedTurn['completed']): TurnReasoning {
  return {
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(reasoningTruncated === undefined ? {} : { reasoningTruncated }),
  }
}

/** Adds an empty list of tool calls where there is none, because AgentEnsemble's viewer reads its length. */
function toTraceMessage(message: LlmMessage): LlmMessage {
  return { ...message, toolCalls: message.toolCalls ?? [] }
}

function toToolCall(call: AttemptCall, { captureMode }: TraceParts): ToolCallTrace {
  const { event } = call
  const { toolName, toolArguments, toolResult, structuredResult, durationMs, outcome } = event
  const isFull = captureMode === 'DETAILED' || captureMode === 'FULL'
  return {
    toolName,
    arguments: toolArguments ?? '',
    result: toolResult,
    structuredOutput: structuredResult ?? null,
    ...formatSpan(call),
    duration: formatJavaDuration(durationMs),
    outcome,
    parsedInput: isFull ? parseArguments(toolArguments) : null,
    metadata: {
      toolCallId: event.toolCallId,
      ...(event.parentToolCallId === undefined ? {} : { parentToolCallId: event.parentToolCallId }),
    },
  }
}

/** Parses the arguments of a call; null when they are not a JSON object. */
function parseArguments(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { ...value } : null
  } catch {
    return null
  }
}

function toDelegation(
  delegation: TracedDelegation,
  delegator: TracedAttempt,
  parts: TraceParts,
): TaskTrace['delegations'][number] {
  const { started, end } = delegation
  const worker = parts.lastAttempts.get(started.workerTask)
  const span = findDelegationSpan(delegation, worker, findEnd(worker ?? delegator, parts.now))
  const isDone = end?.type === 'delegation_completed'
  const output = worker?.end?.type === 'task_completed' ? worker.end.output : null
  return {
    delegatorRole: started.delegatingAgentRole,
    workerRole: started.workerRole,
    taskDescription: started.taskDescription,
    ...formatSpan(span),
    duration: formatJavaDuration(isDone ? end.durationMs : span.completedAt - span.startedAt),
    depth: started.depth,
    result: isDone ? output : null,
    succeeded: isDone,
    workerTrace: worker?.input === undefined ? null : buildTaskTrace(worker, parts),
  }
}

/** Returns start and end of a delegation. Without a timestamp, it starts when its worker starts. */
function findDelegationSpan(
  { started, startedAt: askedAt, end, endedAt }: TracedDelegation,
  worker: TracedAttempt | undefined,
  lastAt: number,
): WorkSpan {
  const isSaid = started.startedAt !== undefined || worker === undefined
  const startedAt = isSaid ? askedAt : Date.parse(worker.started.startedAt)
  const derived = end?.type === 'delegation_completed' ? startedAt + end.durationMs : lastAt
  return { startedAt, completedAt: Math.max(startedAt, endedAt ?? derived) }
}

function formatSpan({ startedAt, completedAt }: WorkSpan) {
  return {
    startedAt: new Date(startedAt).toISOString(),
    completedAt: new Date(completedAt).toISOString(),
  }
}
