/** Spans of model calls, one for each call; a repeated call is a separate span. */
import { SpanKind, type Attributes } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { toFinishReason, inputMessages, outputMessages, systemInstructions } from './content.ts'
import { toFailedEnd } from './span-end.ts'
import { chatKey } from './span-keys.ts'
import { findAttempt, toTaskAttributes, toUsageAttributes } from './task-spans.ts'

import type { SpanTable, OpenAttempt, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes an event of a model call; returns whether it is one. */
export function takeChatEvent(table: SpanTable, event: TracedEvent): boolean {
  switch (event.type) {
    case 'llm_iteration_started':
      begin(table, event)
      return true
    case 'reasoning':
    case 'token':
      markFirstToken(table, findAttempt(table, event))
      return true
    case 'llm_iteration_completed':
      complete(table, event)
      return true
    case 'llm_iteration_failed':
      fail(table, event)
      return true
    default:
      return false
  }
}

function begin(table: SpanTable, event: RunEventOf<'llm_iteration_started'>): void {
  const attempt = findAttempt(table, event)
  if (attempt === undefined) return
  if (attempt.chat !== undefined) {
    table.end(attempt.chat, toFailedEnd(table.beforeMs, { code: 'INTERRUPTED' }, table.redact))
  }
  const { iterationIndex, model: label } = event
  const number = (attempt.chats.get(iterationIndex) ?? 0) + 1
  attempt.chats.set(iterationIndex, number)
  const { provider, model = label } = table.modelNames(label) ?? {}
  const span = table.open({
    key: chatKey(attempt.key, iterationIndex, number),
    name: `${OPERATION.chat} ${model}`,
    kind: SpanKind.CLIENT,
    startMs: table.nowMs,
    parent: attempt.span,
    owner: attempt.key,
    attributes: {
      ...toTaskAttributes(event),
      [GEN_AI.operationName]: OPERATION.chat,
      [GEN_AI.requestModel]: model,
      [TUTTI.iteration]: iterationIndex,
      [TUTTI.modelTry]: number,
      [TUTTI.model]: label,
    },
  })
  span.set({ [GEN_AI.providerName]: provider })
  if (table.captureContent) span.set(toInputContent(table, event))
  attempt.chat = span
}

function toInputContent(
  { redact }: SpanTable,
  { messages }: RunEventOf<'llm_iteration_started'>,
): Attributes {
  const system = systemInstructions(messages)
  return {
    [GEN_AI.inputMessages]: redact(inputMessages(messages)),
    ...(system === undefined ? {} : { [GEN_AI.systemInstructions]: redact(system) }),
  }
}

/** Records the first text or reasoning that a model streams. */
function markFirstToken({ nowMs }: SpanTable, attempt: OpenAttempt | undefined): void {
  const span = attempt?.chat
  if (span === undefined || span.attributes[GEN_AI.timeToFirstChunk] !== undefined) return
  span.set({ [GEN_AI.timeToFirstChunk]: (nowMs - span.startMs) / 1_000 })
  span.addEvent('gen_ai.first_chunk', nowMs)
}

function complete(table: SpanTable, event: RunEventOf<'llm_iteration_completed'>): void {
  const attempt = findAttempt(table, event)
  if (attempt === undefined) return
  const { iterationIndex, toolRequests = [] } = event
  attempt.iterationIndex = iterationIndex
  attempt.toolNames.clear()
  for (const { id, name } of toolRequests) if (id !== undefined) attempt.toolNames.set(id, name)
  const span = attempt.chat
  attempt.chat = undefined
  if (span === undefined) return
  table.end(span, {
    endMs: table.nowMs,
    attributes: {
      ...toUsageAttributes(event.inputTokens, event.outputTokens),
      [GEN_AI.cachedInputTokens]: event.cachedInputTokens,
      [GEN_AI.reasoningTokens]: event.reasoningTokens,
      [GEN_AI.finishReasons]: [toFinishReason(event)],
      [TUTTI.costUsd]: event.costUsd,
      ...(table.captureContent
        ? { [GEN_AI.outputMessages]: table.redact(outputMessages(event)) }
        : {}),
    },
  })
}

function fail(table: SpanTable, event: RunEventOf<'llm_iteration_failed'>): void {
  const attempt = findAttempt(table, event)
  const span = attempt?.chat
  if (attempt === undefined || span === undefined) return
  attempt.chat = undefined
  span.set({ [TUTTI.retryInMs]: event.retryInMs, [TUTTI.nextModel]: event.nextModel })
  table.end(span, toFailedEnd(table.nowMs, event, table.redact))
}
