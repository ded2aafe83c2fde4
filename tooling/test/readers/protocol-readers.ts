/** Readers of the gateway's protocols. */
import { expect } from 'vitest'

import { toTaskEnd } from '../../../packages/compat-agentensemble/src/peer/events.ts'
import { taskLines } from '../../../packages/compat-jamjet/src/server/events.ts'
import { TaskUpdates } from '../../../packages/gateway/src/a2a/events.ts'
import { toWireTask } from '../../../packages/gateway/src/a2a/to-task.ts'
import { TaskView } from '../../../packages/gateway/src/a2a/view.ts'
import { AguiRun } from '../../../packages/gateway/src/ag-ui/events.ts'
import { ChatChunks } from '../../../packages/gateway/src/ai-sdk/chunks.ts'
import { runAnswer } from '../../../packages/gateway/src/mcp/answer.ts'
import { Completion } from '../../../packages/gateway/src/openai/chat/completion.ts'
import { RunResponses } from '../../../packages/gateway/src/openai/responses/run-responses.ts'
import { readItemText } from '../../../packages/gateway/src/openai/responses/segment-items.ts'
import { USAGE_EXTENSION } from '../../../packages/protocol/src/internal.ts'
import {
  stated,
  known,
  estimated,
  statedCost,
  knownCost,
  lastOf,
  sumOf,
  readStatus,
  type Found,
  type Readers,
} from './findings.ts'

import type { A2aTaskState } from '../../../packages/gateway/src/a2a/wire.ts'
import type { AguiEvent, AguiMessage } from '../../../packages/gateway/src/ag-ui/wire.ts'
import type { ChatMetadata } from '../../../packages/gateway/src/ai-sdk/wire.ts'
import type { RunLog } from './run-logs.ts'

function readChat({ runId, events }: RunLog): Found {
  const chat = new ChatChunks(runId)
  let output = ''
  let metadata: Partial<ChatMetadata> = {}
  for (const chunk of events.flatMap((event) => chat.after(event))) {
    if (chunk.type === 'reset-step') output = ''
    if (chunk.type === 'text-delta') output += chunk.delta
    if ('messageMetadata' in chunk) metadata = chunk.messageMetadata
  }
  const { status, usage, costUsd } = metadata
  // A message that waits for the client has no end.
  if (status === undefined || usage === undefined) return { output }
  return {
    status: readStatus(status),
    output,
    tokens: known(usage.totalTokens),
    reasoningTokens: usage.reasoningTokens ?? 0,
    cost: statedCost(costUsd),
  }
}

/** One completion per decision: the client continues the run when it has answered. */
function readCompletion({ events }: RunLog): Found {
  const completions = listSegments(events).map((answered) => {
    const completion = new Completion({ answered, streamsText: true })
    for (const event of events) completion.take(event)
    return completion
  })
  const { end } = lastOf(completions)
  const used = {
    tokens: known(sumOf(completions, ({ usage }) => usage.total_tokens)),
    reasoningTokens: sumOf(
      completions,
      ({ usage }) => usage.completion_tokens_details?.reasoning_tokens ?? 0,
    ),
  }
  if (end?.kind !== 'message') return { status: 'NOT_COMPLETED', ...used }
  const { content: output, finish, refusal } = end
  if (finish === 'tool_calls') return { status: 'WAITING_REVIEW', output, ...used }
  if (finish === 'length') return { output, ...used }
  return { status: refusal === undefined ? 'COMPLETED' : 'NOT_COMPLETED', output, ...used }
}

function readResponses({ runId, events }: RunLog): Found {
  const options = { runId, createdAt: 0, background: false, isStructured: false }
  const responses = new RunResponses(options)
  for (const event of events) responses.after(event)
  const states = Array.from({ length: responses.newest + 1 }, (_, at) => responses.stateOf(at))
  const { status, output } = lastOf(states)
  const text = output.map(readItemText).join('')
  const used = {
    tokens: known(sumOf(states, ({ usage }) => usage?.total_tokens ?? 0)),
    reasoningTokens: sumOf(
      states,
      ({ usage }) => usage?.output_tokens_details.reasoning_tokens ?? 0,
    ),
  }
  if (status === 'incomplete') return { output: text, ...used }
  const isWaiting = output.some(({ type }) => type === 'function_call')
  if (status === 'completed' && isWaiting)
    return { status: 'WAITING_REVIEW', output: text, ...used }
  const isCompleted = status === 'completed' && text !== ''
  return { status: isCompleted ? 'COMPLETED' : 'NOT_COMPLETED', output: text, ...used }
}

/** Returns the answered client tools of each segment of a run: none, then one for each answer. */
function listSegments(events: RunLog['events']): readonly (readonly string[])[] {
  const tools = new Set(
    events.flatMap((event) =>
      event.type === 'review_requested' && event.kind === 'CLIENT_TOOL' ? event.reviewId : [],
    ),
  )
  return [
    [],
    ...events.flatMap((event) =>
      event.type === 'review_decided' && tools.has(event.reviewId) ? [[event.reviewId]] : [],
    ),
  ]
}

/** Returns the conversation of an AG-UI client after an event. */
function addMessage(messages: readonly AguiMessage[], event: AguiEvent): readonly AguiMessage[] {
  if (event.type === 'MESSAGES_SNAPSHOT') return event.messages
  if (event.type === 'TEXT_MESSAGE_START') {
    return [...messages, { id: event.messageId, role: 'assistant', content: '' }]
  }
  if (event.type !== 'TEXT_MESSAGE_CONTENT') return messages
  return messages.map((message) =>
    message.id === event.messageId
      ? { ...message, content: `${String(message.content)}${event.delta}` }
      : message,
  )
}

/** One AG-UI run per decision: the client continues the run when it has answered. */
function readAgui({ runId, events }: RunLog): Found {
  const decided = events.flatMap((event) =>
    event.type === 'review_decided' ? [[event.reviewId]] : [],
  )
  let messages: readonly AguiMessage[] = []
  let openCalls = new Set<string>()
  const segments = [[], ...decided].map((answered) => {
    const run = new AguiRun({
      ids: { threadId: 't', runId: 'r' },
      run: { runId, ensemble: 'team' },
      state: undefined,
      messages,
      answered: new Set(answered),
    })
    const sent = [...run.start(), ...run.after(events)]
    messages = sent.reduce(addMessage, messages)
    openCalls = new Set()
    for (const event of sent) {
      if (event.type === 'TOOL_CALL_START') openCalls.add(event.toolCallId)
      if (event.type === 'TOOL_CALL_RESULT') openCalls.delete(event.toolCallId)
    }
    const last = lastOf(sent)
    if (last.type === 'RUN_FINISHED' || last.type === 'RUN_ERROR') return last
    return expect.fail(last.type)
  })
  const end = lastOf(segments)
  const isSuccess = end.type === 'RUN_FINISHED' && end.outcome.type === 'success'
  const usages = segments.flatMap(({ usage }) => usage ?? [])
  const isKnown = usages.every((usage) => usage.totalTokens !== undefined)
  return {
    // A run that waits for a tool of the client finishes with a call that has no result.
    status: !isSuccess ? 'NOT_COMPLETED' : openCalls.size > 0 ? 'WAITING_REVIEW' : 'COMPLETED',
    output: String(messages.findLast(({ role }) => role === 'assistant')?.content),
    reasoningTokens: sumOf(usages, ({ reasoningTokens = 0 }) => reasoningTokens),
    tokens: stated(isKnown ? sumOf(usages, ({ totalTokens: count = 0 }) => count) : -1),
  }
}

const A2A_STATUSES: Readonly<Partial<Record<A2aTaskState, RunLog['status']>>> = {
  TASK_STATE_COMPLETED: 'COMPLETED',
  TASK_STATE_FAILED: 'FAILED',
  TASK_STATE_CANCELED: 'CANCELLED',
  TASK_STATE_INPUT_REQUIRED: 'WAITING_REVIEW',
}

/** Reads the metadata of the usage extension. */
function readUsageMetadata(
  metadata: Readonly<Record<string, unknown>> | undefined,
): Pick<Found, 'tokens' | 'cost'> {
  expect(metadata).toMatchObject({ [USAGE_EXTENSION]: { total_tokens: expect.any(Number) } })
  // NOTE: checked above; the cost is absent if it is unknown.
  const used = metadata?.[USAGE_EXTENSION] as {
    readonly total_tokens: number
    readonly total_cost_usd?: number
  }
  return { tokens: estimated(used.total_tokens), cost: statedCost(used.total_cost_usd) }
}

const SHOWING = { modes: [], usage: true }

function toIdentity({ runId: id }: RunLog) {
  const asked = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] } as const
  return { id, contextId: 'c', asked }
}

function readA2aTask(log: RunLog): Found {
  const view = new TaskView({ createdAt: 0 })
  for (const event of log.events) view.take(event)
  const { artifacts = [], status, metadata } = toWireTask(toIdentity(log), view, SHOWING)
  return {
    status: A2A_STATUSES[status.state] ?? expect.fail(status.state),
    output: artifacts.at(-1)?.parts[0]?.text,
    ...readUsageMetadata(metadata),
  }
}

function readA2aStream(log: RunLog): Found {
  const updates = new TaskUpdates(toIdentity(log), new TaskView({ createdAt: 0 }), SHOWING)
  let output = ''
  let state: A2aTaskState = 'TASK_STATE_SUBMITTED'
  let metadata: Readonly<Record<string, unknown>> | undefined
  for (const item of log.events.flatMap((event) => [...updates.after(event)])) {
    if ('artifactUpdate' in item) {
      const { artifact, append } = item.artifactUpdate
      const text = artifact.parts[0]?.text ?? ''
      output = append ? output + text : text
      metadata = item.artifactUpdate.metadata
    }
    if ('statusUpdate' in item) {
      state = item.statusUpdate.status.state
      metadata = item.statusUpdate.metadata
    }
  }
  return {
    status: A2A_STATUSES[state] ?? expect.fail(state),
    output,
    ...readUsageMetadata(metadata),
  }
}

const TASK_STATUSES: Readonly<Record<string, RunLog['status']>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  canceled: 'CANCELLED',
  'input-required': 'WAITING_REVIEW',
}

/** A task of `/tasks`, whose stream ends at a question only when the log ends there. */
function readTask({ runId, events, status: expected }: RunLog): Found {
  const stopFrom = expected === 'WAITING_REVIEW' ? events.length - 1 : events.length
  const lines = taskLines({ id: runId, stopFrom })
  const reply = lastOf(events.flatMap((event) => lines(event).end ?? []))
  const { status, output, total_tokens: tokens, total_cost_usd: costUsd } = reply
  return {
    status: TASK_STATUSES[status] ?? expect.fail(status),
    output: output ?? '',
    tokens: estimated(tokens),
    cost: knownCost(costUsd),
  }
}

function readPeer({ events }: RunLog): Found {
  const end = events.find((event) => event.type === 'run_result')
  if (end === undefined) return {}
  const { status, result } = { result: undefined, ...toTaskEnd(end) }
  return { status: status === 'COMPLETED' ? status : 'NOT_COMPLETED', output: result }
}

function readMcp({ runId, events }: RunLog): Found {
  const answer = runAnswer(runId, undefined)
  for (const event of events) answer.add(event)
  const result = answer.result()
  if (result === undefined) return {}
  const { structuredContent, _meta: metadata } = result
  expect(structuredContent).toMatchObject({ status: expect.any(String) })
  // NOTE: the fields are those of the output schema of a run.
  const { status, output } = structuredContent as {
    readonly status: string
    readonly output: string
  }
  const used = metadata === undefined ? {} : readUsageMetadata(metadata)
  return { status: readStatus(status), output, ...used }
}

/** Readers by name. */
export const PROTOCOL_READERS: Readers = {
  useChat: readChat,
  'a chat completion': readCompletion,
  'the responses': readResponses,
  'AG-UI': readAgui,
  'an A2A task': readA2aTask,
  'an A2A stream': readA2aStream,
  'a task of /tasks': readTask,
  'a peer': readPeer,
  MCP: readMcp,
}
