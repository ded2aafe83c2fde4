/** Reads the model turns of a task in a trace file, with their tool calls. Pure. */
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { parseDurationMs, readText } from './trace-state-values.ts'

import type {
  LlmInteraction,
  TaskTrace,
  ToolCallState,
  ToolCallTrace,
  TurnState,
} from '@tutti/protocol/internal'

/** Returns the turns; `location` makes the ids of tool calls unique among tasks. */
export function readTracedTurns(
  { llmInteractions, prompts }: Pick<TaskTrace, 'llmInteractions' | 'prompts'>,
  location: string,
): readonly TurnState[] {
  const ids = new Set<string>()
  const idOf = (call: ToolCallTrace, turn: number): string => {
    const wanted = readText(call.metadata, 'toolCallId') ?? `${location}.${turn}.${ids.size + 1}`
    const id = ids.has(wanted) ? `${wanted}.${ids.size + 1}` : wanted
    ids.add(id)
    return id
  }
  return llmInteractions.map((interaction, at) => {
    const turn = toTurn(interaction, idOf)
    const hasNone = at === 0 && turn.messages.length === 0 && prompts !== null
    return hasNone ? { ...turn, ...toMessages(prompts) } : turn
  })
}

/** Returns the prompts of a task as messages, for files that have them only in this form. */
function toMessages({
  systemPrompt,
  userPrompt,
}: NonNullable<TaskTrace['prompts']>): Pick<TurnState, 'messages' | 'totalMessageCount'> {
  const messages = [
    { role: 'system', content: systemPrompt, toolCalls: null, toolName: null },
    { role: 'user', content: userPrompt, toolCalls: null, toolName: null },
  ] as const
  return { messages, totalMessageCount: messages.length }
}

function toTurn(
  interaction: LlmInteraction,
  idOf: (call: ToolCallTrace, turn: number) => string,
): TurnState {
  const { model, responseText, latency, messages, toolCalls, ...rest } = interaction
  // Traces contain an empty list where events contain null.
  const sent = messages.map((message) =>
    message.toolCalls?.length === 0 ? { ...message, toolCalls: null } : message,
  )
  const calls = toolCalls.map((call) => toToolCall(call, idOf(call, rest.iterationIndex)))
  return omitUndefined({
    iterationIndex: rest.iterationIndex,
    // Some traces lack the model.
    model: model ?? '',
    status: 'COMPLETED' as const,
    text: responseText ?? '',
    messages: sent,
    totalMessageCount: sent.length,
    startedAt: rest.startedAt,
    completedAt: rest.completedAt,
    responseType: rest.responseType,
    toolCalls: nestSteps(calls),
    inputTokens: rest.inputTokens,
    outputTokens: rest.outputTokens,
    latencyMs: parseDurationMs(latency),
    finishReason: rest.finishReason,
    refusal: rest.refusal,
    cachedInputTokens: rest.cachedInputTokens,
    reasoning: rest.reasoning,
    reasoningTokens: rest.reasoningTokens,
    reasoningTruncated: rest.reasoningTruncated,
    failures: [],
  })
}

function toToolCall(call: ToolCallTrace, id: string): ToolCallState {
  const { toolName: name, result, startedAt, completedAt, outcome, metadata } = call
  return omitUndefined({
    id,
    name,
    arguments: call.arguments,
    // FAILURE, ERROR and SKIPPED_MAX_ITERATIONS all mean that the work was not done.
    status: outcome === 'SUCCESS' ? ('SUCCEEDED' as const) : ('FAILED' as const),
    result: outcome === 'SKIPPED_MAX_ITERATIONS' ? (result ?? SKIPPED) : result,
    structured: call.structuredOutput ?? null,
    startedAt,
    completedAt,
    durationMs: parseDurationMs(call.duration),
    steps: [],
    parentToolCallId: readText(metadata, 'parentToolCallId'),
  })
}

/** Result of a call that was skipped. */
const SKIPPED = 'Not called: the agent reached its limit of turns'

/**
 * Nests steps in the call that they belong to, which follows them; other calls stay at top level.
 */
function nestSteps(calls: readonly ToolCallState[]): readonly ToolCallState[] {
  let top: readonly ToolCallState[] = []
  for (const call of calls) {
    const steps = top.filter(({ parentToolCallId }) => parentToolCallId === call.id)
    const others = steps.length === 0 ? top : top.filter((other) => !steps.includes(other))
    top = [...others, steps.length === 0 ? call : { ...call, steps }]
  }
  return top
}
