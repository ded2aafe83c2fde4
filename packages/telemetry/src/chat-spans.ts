/** The spans of model calls: each call is one, also those that failed and were made again. */
import { SpanKind, type Attributes } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { finishReasonOf, inputMessages, outputMessages, systemInstructions } from './content.ts'
import { failed } from './span-end.ts'
import { chatKey } from './span-keys.ts'
import { factsOf, taskAttributes, usage } from './task-spans.ts'

import type { SpanTable, TaskFacts, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes an event of a model call; false when it is none. */
export function chatEvent(table: SpanTable, event: TracedEvent): boolean {
  switch (event.type) {
    case 'llm_iteration_started':
      begin(table, event)
      return true
    case 'token':
      sawFirst(table, factsOf(table, event))
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
  const facts = factsOf(table, event)
  if (facts === undefined) return
  if (facts.chat !== undefined) {
    table.end(facts.chat, failed(table.beforeMs, { code: 'INTERRUPTED' }, table.redact))
  }
  const { iterationIndex, model: label } = event
  const number = (facts.chats.get(iterationIndex) ?? 0) + 1
  facts.chats.set(iterationIndex, number)
  const { provider, model = label } = table.modelNames(label) ?? {}
  const span = table.open({
    key: chatKey(facts.key, iterationIndex, number),
    name: `${OPERATION.chat} ${model}`,
    kind: SpanKind.CLIENT,
    startMs: table.nowMs,
    parent: facts.span,
    owner: facts.key,
    attributes: {
      ...taskAttributes(event),
      [GEN_AI.operationName]: OPERATION.chat,
      [GEN_AI.requestModel]: model,
      [TUTTI.iteration]: iterationIndex,
      [TUTTI.modelTry]: number,
      [TUTTI.model]: label,
    },
  })
  span.set({ [GEN_AI.providerName]: provider })
  if (table.captureContent) span.set(askedContent(table, event))
  facts.chat = span
}

function askedContent(
  { redact }: SpanTable,
  { messages }: RunEventOf<'llm_iteration_started'>,
): Attributes {
  const system = systemInstructions(messages)
  return {
    [GEN_AI.inputMessages]: redact(inputMessages(messages)),
    ...(system === undefined ? {} : { [GEN_AI.systemInstructions]: redact(system) }),
  }
}

/** The first text that a model streams; the rest of it is no news. */
function sawFirst({ nowMs }: SpanTable, facts: TaskFacts | undefined): void {
  const span = facts?.chat
  if (span === undefined || span.attributes[GEN_AI.timeToFirstChunk] !== undefined) return
  span.set({ [GEN_AI.timeToFirstChunk]: (nowMs - span.startMs) / 1_000 })
  span.addEvent('gen_ai.first_chunk', nowMs)
}

function complete(table: SpanTable, event: RunEventOf<'llm_iteration_completed'>): void {
  const facts = factsOf(table, event)
  if (facts === undefined) return
  const { iterationIndex, toolRequests = [] } = event
  facts.iterationIndex = iterationIndex
  facts.toolNames.clear()
  for (const { id, name } of toolRequests) if (id !== undefined) facts.toolNames.set(id, name)
  const span = facts.chat
  facts.chat = undefined
  if (span === undefined) return
  table.end(span, {
    endMs: table.nowMs,
    attributes: {
      ...usage(event.inputTokens, event.outputTokens),
      [GEN_AI.cachedInputTokens]: event.cachedInputTokens,
      [GEN_AI.finishReasons]: [finishReasonOf(event)],
      [TUTTI.costUsd]: event.costUsd,
      ...(table.captureContent
        ? { [GEN_AI.outputMessages]: table.redact(outputMessages(event)) }
        : {}),
    },
  })
}

function fail(table: SpanTable, event: RunEventOf<'llm_iteration_failed'>): void {
  const facts = factsOf(table, event)
  const span = facts?.chat
  if (facts === undefined || span === undefined) return
  facts.chat = undefined
  span.set({ [TUTTI.retryInMs]: event.retryInMs, [TUTTI.nextModel]: event.nextModel })
  table.end(span, failed(table.nowMs, event, table.redact))
}
