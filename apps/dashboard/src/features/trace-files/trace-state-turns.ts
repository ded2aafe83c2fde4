/** Pure: the model turns of a task in a trace file, with their tool calls. */
import { parseDurationMs, textAt } from './trace-state-values.ts'

import type {
  LlmInteraction,
  TaskTrace,
  ToolCallState,
  ToolCallTrace,
  TurnState,
} from '@tutti/protocol'

/** The turns; `place` tells the tool calls of one task from those of others. */
export function tracedTurns(
  { llmInteractions, prompts }: Pick<TaskTrace, 'llmInteractions' | 'prompts'>,
  place: string,
): readonly TurnState[] {
  const ids = new Set<string>()
  const idOf = (call: ToolCallTrace, turn: number): string => {
    const wanted = textAt(call.metadata, 'toolCallId') ?? `${place}.${turn}.${ids.size + 1}`
    const id = ids.has(wanted) ? `${wanted}.${ids.size + 1}` : wanted
    ids.add(id)
    return id
  }
  return llmInteractions.map((interaction, at) => {
    const turn = turnOf(interaction, idOf)
    const hasNone = at === 0 && turn.messages.length === 0 && prompts !== null
    return hasNone ? { ...turn, ...messagesOf(prompts) } : turn
  })
}

/** The prompts of a task are the first messages, where the file has them in no other place. */
function messagesOf({
  systemPrompt,
  userPrompt,
}: NonNullable<TaskTrace['prompts']>): Pick<TurnState, 'messages' | 'totalMessageCount'> {
  const messages = [
    { role: 'system', content: systemPrompt, toolCalls: null, toolName: null },
    { role: 'user', content: userPrompt, toolCalls: null, toolName: null },
  ] as const
  return { messages, totalMessageCount: messages.length }
}

function turnOf(
  interaction: LlmInteraction,
  idOf: (call: ToolCallTrace, turn: number) => string,
): TurnState {
  const { iterationIndex, startedAt, completedAt, responseType } = interaction
  // Traces write an empty list where events write null.
  const messages = interaction.messages.map((message) =>
    message.toolCalls?.length === 0 ? { ...message, toolCalls: null } : message,
  )
  const latencyMs = parseDurationMs(interaction.latency)
  const calls = interaction.toolCalls.map((call) => callOf(call, idOf(call, iterationIndex)))
  return {
    iterationIndex,
    // Not every trace says which model it was.
    model: interaction.model ?? '',
    status: 'COMPLETED',
    text: interaction.responseText ?? '',
    messages,
    totalMessageCount: messages.length,
    startedAt,
    completedAt,
    responseType,
    toolCalls: nested(calls),
    inputTokens: interaction.inputTokens,
    outputTokens: interaction.outputTokens,
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(interaction.finishReason === undefined ? {} : { finishReason: interaction.finishReason }),
    ...(interaction.refusal === undefined ? {} : { refusal: interaction.refusal }),
    ...(interaction.cachedInputTokens === undefined
      ? {}
      : { cachedInputTokens: interaction.cachedInputTokens }),
    failures: [],
  }
}

function callOf(call: ToolCallTrace, id: string): ToolCallState {
  const { toolName: name, result, startedAt, completedAt, outcome, metadata } = call
  const parent = textAt(metadata, 'parentToolCallId')
  const durationMs = parseDurationMs(call.duration)
  return {
    id,
    name,
    arguments: call.arguments,
    // FAILURE, ERROR and SKIPPED_MAX_ITERATIONS: none of them has done its work.
    status: outcome === 'SUCCESS' ? 'SUCCEEDED' : 'FAILED',
    result: outcome === 'SKIPPED_MAX_ITERATIONS' ? (result ?? SKIPPED) : result,
    structured: call.structuredOutput ?? null,
    startedAt,
    completedAt,
    ...(durationMs === undefined ? {} : { durationMs }),
    steps: [],
    ...(parent === undefined ? {} : { parentToolCallId: parent }),
  }
}

/** What stands in place of the result of a call that was never made. */
const SKIPPED = 'Not called: the agent had used up its turns'

/** Steps come before the call that they are a part of, which takes them in; the others stay at the top. */
function nested(calls: readonly ToolCallState[]): readonly ToolCallState[] {
  let top: readonly ToolCallState[] = []
  for (const call of calls) {
    const steps = top.filter(({ parentToolCallId }) => parentToolCallId === call.id)
    const others = steps.length === 0 ? top : top.filter((other) => !steps.includes(other))
    top = [...others, steps.length === 0 ? call : { ...call, steps }]
  }
  return top
}
