/** All readers of logs: protocols, states, records, terminals, dashboard, traces and metrics. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../../packages/core/src/index.ts'
import {
  applyRunEvent,
  emptyRunState,
  readRunCost,
  readRunOutput,
  RunProjection,
  runStateAfter,
  toRunMessages,
  totalTokens,
  USAGE_EXTENSION,
  type LoggedRunEvent,
  type OutputBlock,
  type RunState,
} from '../../packages/protocol/src/index.ts'
import { sqliteRunStorage, type RunRecord, type RunStorage } from '../../packages/runs/src/index.ts'
import { traceRuns } from '../../packages/telemetry/src/index.ts'
import { expect } from 'vitest'

import {
  groupCostsByModel,
  groupCostsByTask,
  sumUsed,
} from '../../apps/dashboard/src/features/costs/costs.ts'
import { toRunState } from '../../apps/dashboard/src/features/trace-files/trace-state.ts'
import { buildExecutionTrace } from '../../packages/control-api/src/agentensemble/trace/execution-trace.ts'
import { createInstruments } from '../../packages/control-api/src/metrics/instruments.ts'
import { MetricRegistry } from '../../packages/control-api/src/metrics/registry.ts'
import { createRunListeners } from '../../packages/control-api/src/metrics/run-listeners.ts'
import { toRunDetail, toRunSummary } from '../../packages/control-api/src/runs/to-wire.ts'
import { TaskUpdates } from '../../packages/gateway/src/a2a/events.ts'
import { toWireTask } from '../../packages/gateway/src/a2a/to-task.ts'
import { advanceView, firstView } from '../../packages/gateway/src/a2a/view.ts'
import { AguiRun } from '../../packages/gateway/src/ag-ui/events.ts'
import { ChatChunks } from '../../packages/gateway/src/ai-sdk/chunks.ts'
import { runAnswer } from '../../packages/gateway/src/mcp/answer.ts'
import { Completion } from '../../packages/gateway/src/openai/chat/completion.ts'
import { RunResponses } from '../../packages/gateway/src/openai/responses/run-responses.ts'
import { readItemText } from '../../packages/gateway/src/openai/responses/segment-items.ts'
import { toTaskEnd } from '../../packages/gateway/src/peer/events.ts'
import { taskLines } from '../../packages/gateway/src/tasks/events.ts'
import { applyEvents, NOT_FOLLOWED } from '../../packages/react/src/follow-events.ts'
import { readForkedLog } from '../../packages/runs/src/lineage/fork-log.ts'
import { claimRun, newRun } from '../../packages/runs/src/testing/support/run-fixtures.ts'
import { RunThreads, type ThreadRunMessages } from '../../packages/runs/src/threads/run-threads.ts'
import { keepIn } from '../../packages/telemetry/test/readable.ts'
import { plainLines } from '../../apps/server/src/cli/live/plain-lines.ts'
import { runLogListeners } from '../../apps/server/src/log/run-log.ts'

import type { A2aTaskState } from '../../packages/gateway/src/a2a/wire.ts'
import type { AguiEvent, AguiMessage } from '../../packages/gateway/src/ag-ui/wire.ts'
import type { ChatMetadata } from '../../packages/gateway/src/ai-sdk/wire.ts'
import type { SentSpan } from '../../packages/telemetry/test/collector.ts'
import type { RunLog } from './run-logs.ts'

/** Findings of a reader in a log. */
export interface Found {
  /**
   * Status of the run, or NOT_COMPLETED in a protocol that does not distinguish a failure from a cancel. Absent if a
   * protocol has another one, such as an incomplete response.
   */
  readonly status?: RunLog['status'] | 'NOT_COMPLETED'
  /** Output, after the text before it in a protocol that does not separate them; present if the run completed. */
  readonly output?: string | undefined
  /** Text that the output task has written, in a run without an output. Absent if the reader does not show it. */
  readonly text?: string
  readonly tokens?: FoundTokens
  /** Tokens that models used to reason. Absent if the reader does not show them. */
  readonly reasoningTokens?: number
  readonly cost?: FoundCost
}

/** Tokens of a run, and what the number means if a model did not report its tokens. */
export interface FoundTokens {
  /** Whether the number then is -1, the sum of the reported numbers, or the sum with estimates. */
  readonly kind: 'stated' | 'known' | 'estimated'
  readonly count: number
}

/** Cost of a run, and what it means if a model has no known price. */
export interface FoundCost {
  /** Whether the cost then is unknown, or the sum of the known costs. */
  readonly kind: 'stated' | 'known'
  /** In US dollars; undefined if it is unknown. */
  readonly usd: number | undefined
}

/** Reads a log from its first event to its last one. */
type Reader = (log: RunLog) => Found | Promise<Found>

type Events = readonly LoggedRunEvent[]

const stated = (count: number): FoundTokens => ({ kind: 'stated', count })
const known = (count: number): FoundTokens => ({ kind: 'known', count })
const estimated = (count: number): FoundTokens => ({ kind: 'estimated', count })

const statedCost = (usd: number | undefined): FoundCost => ({ kind: 'stated', usd })
const knownCost = (usd = 0): FoundCost => ({ kind: 'known', usd })

const lastOf = <T>(items: readonly T[]): T => items.at(-1) ?? expect.fail('found nothing')

function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0)
}

/** Returns a status that a log of this test can have. */
function readStatus(status: unknown): RunLog['status'] {
  const all = ['COMPLETED', 'FAILED', 'CANCELLED', 'WAITING_REVIEW'] as const
  return all.find((one) => one === status) ?? expect.fail(`the status ${JSON.stringify(status)}`)
}

// --- States --------------------------------------------------------------------------------------------------------

function readState(state: RunState): Found {
  const { status, totals } = state
  const text = toRunMessages(state).assistantMessage ?? ''
  return {
    status: readStatus(status),
    output: text,
    text,
    tokens: stated(totals.totalTokens),
    reasoningTokens: sumOf(
      state.tasks.flatMap(({ usage, earlierAttempts }) => [
        usage,
        ...earlierAttempts.map((attempt) => attempt.usage),
      ]),
      ({ reasoningTokens = 0 }) => reasoningTokens,
    ),
    cost: statedCost(totals.costUsd),
  }
}

/** The fold of the hooks of React, of events that a client returns. */
async function readHooks({ runId, events }: RunLog): Promise<Found> {
  let run = NOT_FOLLOWED
  async function* stream() {
    yield* events
  }
  // NOTE: the fold calls nothing else of the client.
  const client = { runs: { events: stream } } as unknown as Parameters<typeof applyEvents>[0]
  const { signal } = new AbortController()
  const update = (change: (before: typeof run) => typeof run): void => {
    run = change(run)
  }
  await applyEvents(client, { runId, signal, get: () => run, update })
  expect(run.error).toBeUndefined()
  return readState(run.state)
}

/** The operations of the projection: each text block that is neither withdrawn nor before a tool call. */
function readBlocks({ events }: RunLog): Found {
  const run = new RunProjection()
  const texts = new Map<OutputBlock, string>()
  let status: Found['status']
  for (const operation of events.flatMap((event) => run.take(event))) {
    if (operation.type === 'block_closed' && operation.block.kind !== 'reasoning') {
      if (operation.toolNames.length === 0) texts.set(operation.block, operation.text)
    }
    if (operation.type === 'withdrawn') {
      for (const block of operation.blocks) texts.delete(block)
    }
    if (operation.type === 'ended') status = operation.status
  }
  const output = [...texts.values()].join('')
  const end = events.find((event) => event.type === 'run_result')
  // The text of these blocks is the output itself, not only its end.
  if (status === 'COMPLETED') expect(output).toBe(end && readRunOutput(end))
  return {
    status: status ?? (run.isWaiting ? 'WAITING_REVIEW' : expect.fail('neither ended nor waits')),
    output,
    tokens: estimated(run.usage.tokens),
    reasoningTokens: run.usage.reasoningTokens,
    cost: statedCost(readRunCost(run.usage)),
  }
}

// --- Protocols -----------------------------------------------------------------------------------------------------

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
function listSegments(events: Events): readonly (readonly string[])[] {
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
  const view = log.events.reduce(advanceView, firstView({ createdAt: 0 }))
  const { artifacts = [], status, metadata } = toWireTask(toIdentity(log), view, SHOWING)
  return {
    status: A2A_STATUSES[status.state] ?? expect.fail(status.state),
    output: artifacts.at(-1)?.parts[0]?.text,
    ...readUsageMetadata(metadata),
  }
}

function readA2aStream(log: RunLog): Found {
  const updates = new TaskUpdates(toIdentity(log), firstView({ createdAt: 0 }), SHOWING)
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

// --- Records -------------------------------------------------------------------------------------------------------

const directory = mkdtempSync(join(tmpdir(), 'tutti-readers-'))
const storage: RunStorage = sqliteRunStorage(directory, { synchronous: 'NORMAL' })

/** Closes the store of the readers of records. */
export async function closeReaders(): Promise<void> {
  await storage[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
}

const stored = new Map<string, Promise<void>>()

/** Stores a log once, in its own thread. */
async function storeLog(log: RunLog): Promise<void> {
  const known = stored.get(log.runId) ?? createStored(log)
  stored.set(log.runId, known)
  await known
}

async function createStored(log: RunLog): Promise<void> {
  const { runId, events } = log
  const threadId = `thread-${runId}`
  await storage.threads.create({ threadId, tags: {} })
  const thread = { threadId, number: 1, userMessage: 'Go' }
  const forkedAt = events.findIndex(({ type }) => type === 'run_forked')
  if (forkedAt === -1) {
    await storeRun(log, { runId, thread })
    return
  }
  const parentId = `${runId}-parent`
  const isCopied = { events: events.slice(0, forkedAt), steps: log.steps }
  await storeRun(
    { ...log, ...isCopied, steps: log.steps.filter(({ at }) => at < forkedAt) },
    { runId: parentId },
  )
  const parent = (await storage.runs.get(parentId)) ?? expect.fail('no parent')
  const query = { parent, at: forkedAt - 1, maxStepBytes: Infinity }
  const { fork } = await readForkedLog(storage, systemClock, query)
  const run = newRun(runId, { taskCount: 1, thread })
  const [firstEvent = expect.fail('no event')] = events
  await storage.runs.create(run, { firstEvent, maxUnfinishedRuns: Infinity, fork })
  const owner = await claimRun(storage, runId)
  await owner.commit(events.slice(forkedAt + 1))
}

async function storeRun(
  { events, steps }: Pick<RunLog, 'events' | 'steps'>,
  run: Parameters<typeof newRun>[1] & { readonly runId: string },
): Promise<void> {
  const [firstEvent = expect.fail('no event'), ...rest] = events
  await storage.runs.create(newRun(run.runId, { taskCount: 1, ...run }), {
    firstEvent,
    maxUnfinishedRuns: Infinity,
  })
  const owner = await claimRun(storage, run.runId)
  const written = await owner.commit(rest, {
    steps: steps.map(({ step }) => step),
    stepEvents: steps.map(({ at }) => Math.min(at, events.length - 1) - 1),
  })
  expect(written.kind).toBe('written')
}

/** The list of runs. The queue marks a run that waits, which no event does. */
async function readList(log: RunLog): Promise<Found> {
  await storeLog(log)
  const { runs } = await storage.runs.list({ threadId: `thread-${log.runId}`, limit: 1 })
  const { status, totalTokens: count, costUsd } = toRunSummary(lastOf(runs))
  return {
    ...(log.status === 'WAITING_REVIEW' ? {} : { status: readStatus(status) }),
    tokens: stated(count),
    cost: statedCost(costUsd),
  }
}

/** The detail of a run, which webhooks deliver too. */
async function readDetail(log: RunLog): Promise<Found> {
  await storeLog(log)
  const run = (await storage.runs.get(log.runId)) ?? expect.fail('no run')
  const records = await storage.runs.tasks(log.runId)
  const { status, metrics, tasks } = toRunDetail({ run, tasks: records }, [])
  return {
    ...(log.status === 'WAITING_REVIEW' ? {} : { status: readStatus(status) }),
    output: tasks.find(({ name }) => name === run.outputTask)?.output,
    tokens: stated(metrics.totalTokens),
    cost: statedCost(metrics.costUsd),
  }
}

/** The message of a run in its thread. */
async function readThread(log: RunLog): Promise<Found> {
  await storeLog(log)
  const limits = { maxHistoryRuns: 1, maxHistoryBytes: 1_000_000 }
  const threads = new RunThreads(storage, limits)
  const page = await threads.runs({
    threadId: `thread-${log.runId}`,
    limit: 1,
    maxBytes: 1_000_000,
  })
  const { status, assistantMessage = '' }: ThreadRunMessages = lastOf(page.runs)
  // A client that shows the message of a run that has not ended folds its events.
  if (log.status === 'WAITING_REVIEW') return {}
  return { status: readStatus(status), output: assistantMessage, text: assistantMessage }
}

// --- Terminals and dashboard ---------------------------------------------------------------------------------------

/** Reads a line such as `run-1 COMPLETED in 4.2 s, 2,314 tokens, 5 tool calls, $0.12`. */
function readPlainLines({ runId, events, tokens, knownCost: isUnknown }: RunLog): Found {
  const noTokens = tokens === undefined ? 0 : -1
  const noCost = isUnknown === undefined ? 0 : undefined
  let state = emptyRunState()
  const lines = events.flatMap((event) => {
    state = applyRunEvent(state, event)
    return plainLines(event, state)
  })
  const line = lines.find((text) => text.includes(`] ${runId} `))
  if (line === undefined) {
    expect(lastOf(lines)).toContain('decide with: tutti review')
    return { status: 'WAITING_REVIEW' }
  }
  const [, status = ''] = / (COMPLETED|FAILED|CANCELLED)\b/.exec(line) ?? []
  const [, count] = / ([\d,]+) tokens?\b/.exec(line) ?? []
  const [, cost] = / \$([\d.]+)/.exec(line) ?? []
  return {
    status: readStatus(status),
    // Amounts that are 0 or unknown are left out.
    tokens: stated(count === undefined ? noTokens : Number(count.replaceAll(',', ''))),
    cost: statedCost(cost === undefined ? noCost : Number(cost)),
  }
}

function readTaskCosts({ events }: RunLog): Found {
  const used = sumUsed(groupCostsByTask(runStateAfter(events)).map(({ used: one }) => one))
  return { tokens: stated(totalTokens(used)), cost: statedCost(used.costUsd) }
}

function readModelCosts({ events }: RunLog): Found {
  const used = sumUsed(groupCostsByModel(runStateAfter(events)).map(({ used: one }) => one))
  return { tokens: stated(totalTokens(used)), cost: statedCost(used.costUsd) }
}

/** The log of the server. */
function readServerLog({ runId, events }: RunLog): Found {
  const ends: unknown[] = []
  const add = (message: string, fields: unknown): void => {
    if (message === 'Run ended') ends.push(fields)
  }
  const { onActivity, onExecuted } = runLogListeners({
    debug: add,
    info: add,
    warn: add,
    error: add,
  })
  for (const listener of onActivity) {
    listener({ kind: 'claimed', run: toClaimed(runId), lostOwners: 0 })
  }
  for (const listener of onExecuted) listener(runId, events)
  if (ends.length === 0) return {}
  expect(ends).toEqual([expect.objectContaining({ status: expect.any(String) })])
  // NOTE: checked above; the numbers are absent in a run that used nothing.
  const {
    status,
    totalTokens: count,
    costUsd,
  } = ends[0] as {
    readonly status: string
    readonly totalTokens?: number
    readonly costUsd?: number
  }
  return { status: readStatus(status), tokens: stated(count ?? 0), cost: statedCost(costUsd) }
}

function toClaimed(runId: string): RunRecord {
  return {
    runId,
    ensemble: 'team',
    workflow: 'SEQUENTIAL',
    status: 'RUNNING',
    inputs: {},
    tags: {},
    taskCount: 1,
    completedTasks: 0,
    createdAt: 0,
    epoch: 1,
    lastSeq: 0,
  }
}

// --- Traces and metrics --------------------------------------------------------------------------------------------

function buildTrace({ runId, events, status }: RunLog) {
  const end = events.find((event) => event.type === 'run_result')
  const run = { ...toClaimed(runId), status: end?.status ?? status }
  return buildExecutionTrace(run, events, 0)
}

/** The trace in AgentEnsemble's format. */
function readTrace(log: RunLog): Found {
  const { metrics, metadata, taskTraces } = buildTrace(log)
  const run = log.events.find((event) => event.type === 'run_result')
  return {
    status: readStatus(String(metadata['status'])),
    output:
      taskTraces.findLast(({ metadata: { taskName } }) => taskName === run?.outputTask)
        ?.finalOutput ?? undefined,
    tokens: stated(metrics.totalTokens),
    cost: statedCost(metadata['costUsd'] as number | undefined),
  }
}

/** The page of the dashboard that shows a trace file. */
function readTraceFile(log: RunLog): Found {
  const { status, totals } = toRunState(buildTrace(log))
  return {
    status: readStatus(status),
    tokens: stated(totals.totalTokens),
    cost: statedCost(totals.costUsd),
  }
}

/** Returns the events that the processes of the run wrote, without those that a fork has copied. */
function selectExecuted(events: Events): Events {
  return events.slice(events.findIndex(({ type }) => type === 'run_forked') + 1)
}

/** `SpanKind.CLIENT` of OpenTelemetry. */
const CLIENT_SPAN = 2

/** The spans of model calls and of requests to agents, and the span of the run. */
async function readSpans({ runId, events }: RunLog): Promise<Found> {
  const spans: SentSpan[] = []
  const tracing = traceRuns({ processor: keepIn(spans), captureContent: true })
  const executed = selectExecuted(events)
  const earlier = events.slice(0, events.length - executed.length)
  const service = tracing.service(({ types }) =>
    Promise.resolve(earlier.filter(({ type }) => types.includes(type))),
  )
  const request = service.traceNewRun({ runId, ensemble: 'team' }, {})
  const run = { ...toClaimed(runId), lastSeq: earlier.length - 1, request }
  service.onActivity({ kind: 'claimed', run, lostOwners: 0 })
  service.onExecuted(runId, executed)
  await tracing.flush()
  // Model calls and requests to agents; the spans of tasks have their sums.
  const calls = spans.filter(({ kind }) => kind === CLIENT_SPAN)
  const read = (name: string) => sumOf(calls, ({ attributes }) => Number(attributes[name] ?? 0))
  const root = spans.find(({ attributes }) => attributes['tutti.run.status'] !== undefined)
  const output = root?.attributes['gen_ai.output.messages']
  const [, text] = (typeof output === 'string' ? /"content":"(\w*)"/.exec(output) : null) ?? []
  const status = root?.attributes['tutti.run.status']
  return {
    ...(status === undefined ? {} : { status: readStatus(status) }),
    output: text,
    reasoningTokens: read('gen_ai.usage.reasoning.output_tokens'),
    tokens: known(read('gen_ai.usage.input_tokens') + read('gen_ai.usage.output_tokens')),
    cost: knownCost(read('tutti.cost_usd')),
  }
}

function readMetrics({ runId, events }: RunLog): Found {
  const registry = new MetricRegistry()
  const { onActivity, onExecuted } = createRunListeners({
    instruments: createInstruments(registry),
    clock: systemClock,
    openedAt: () => Promise.resolve(undefined),
  })
  for (const listener of onActivity) {
    listener({ kind: 'claimed', run: toClaimed(runId), lostOwners: 0 })
  }
  for (const listener of onExecuted) listener(runId, selectExecuted(events))
  const read = (name: string) => registry.read().find((one) => one.name === name)?.samples ?? []
  const sum = (...names: string[]) => sumOf(names.flatMap(read), ({ value }) => value)
  const [ended] = read('tutti_runs_ended_total')
  const status = new Map(ended?.labels).get('status')
  return {
    ...(status === undefined ? {} : { status: readStatus(status) }),
    reasoningTokens: sum('tutti_model_reasoning_tokens_total'),
    tokens: known(sum('tutti_model_tokens_total', 'tutti_agent_tokens_total')),
    cost: knownCost(sum('tutti_model_cost_usd_total', 'tutti_agent_cost_usd_total')),
  }
}

/** Readers by name. */
export const READERS: Readonly<Record<string, Reader>> = {
  'the run state (client, dashboard)': ({ events }) => readState(runStateAfter(events)),
  'the hooks of React': readHooks,
  'the blocks of the projection': readBlocks,
  useChat: readChat,
  'a chat completion': readCompletion,
  'the responses': readResponses,
  'AG-UI': readAgui,
  'an A2A task': readA2aTask,
  'an A2A stream': readA2aStream,
  'a task of /tasks': readTask,
  'a peer': readPeer,
  MCP: readMcp,
  'the list of runs': readList,
  'the detail of a run (also of webhooks)': readDetail,
  'a thread': readThread,
  'the lines of the CLI': readPlainLines,
  'the log of the server': readServerLog,
  'the costs of the dashboard by task': readTaskCosts,
  'the costs of the dashboard by model': readModelCosts,
  'a trace of AgentEnsemble': readTrace,
  'a trace file in the dashboard': readTraceFile,
  'the spans of OpenTelemetry': readSpans,
  'the metrics of the server': readMetrics,
}
