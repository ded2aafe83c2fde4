/** All readers of logs: states, protocols, records, terminals, dashboard, traces and metrics. */
import { expect } from 'vitest'

import {
  groupCostsByModel,
  groupCostsByTask,
  sumUsed,
} from '../../../apps/dashboard/src/features/costs/costs.ts'
import { toRunState } from '../../../apps/dashboard/src/features/trace-files/trace-state.ts'
import { plainLines } from '../../../apps/server/src/cli/live/plain-lines.ts'
import { runLogListeners } from '../../../apps/server/src/log/run-log.ts'
import { buildExecutionTrace } from '../../../packages/compat-agentensemble/src/trace/execution-trace.ts'
import { createInstruments } from '../../../packages/control-api/src/metrics/instruments.ts'
import { MetricRegistry } from '../../../packages/control-api/src/metrics/registry.ts'
import { createRunListeners } from '../../../packages/control-api/src/metrics/run-listeners.ts'
import { systemClock } from '../../../packages/core/src/index.ts'
import {
  readRunOutput,
  RunProjection,
  RunStateFold,
  runStateAfter,
  toRunMessages,
  type RunState,
} from '../../../packages/protocol/src/index.ts'
import {
  readRunCost,
  totalTokens,
  type OutputBlock,
} from '../../../packages/protocol/src/internal.ts'
import { applyEvents, NOT_FOLLOWED } from '../../../packages/react/src/follow-events.ts'
import { traceRuns } from '../../../packages/telemetry/src/index.ts'
import { keepIn } from '../../../packages/telemetry/test/readable.ts'
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
import { PROTOCOL_READERS } from './protocol-readers.ts'
import { RECORD_READERS } from './record-readers.ts'

import type { RunRecord } from '../../../packages/runs/src/adapter.ts'
import type { SentSpan } from '../../../packages/telemetry/test/collector.ts'
import type { RunLog } from './run-logs.ts'

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

/** Reads a line such as `run-1 COMPLETED in 4.2 s, 2,314 tokens, 5 tool calls, $0.12`. */
function readPlainLines({ runId, events, tokens, knownCost: isUnknown }: RunLog): Found {
  const noTokens = tokens === undefined ? 0 : -1
  const noCost = isUnknown === undefined ? 0 : undefined
  const run = new RunStateFold()
  const lines = events.flatMap((event) => {
    run.take(event)
    return plainLines(event, run)
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
function selectExecuted(events: RunLog['events']): RunLog['events'] {
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
export const READERS: Readers = {
  'the run state (client, dashboard)': ({ events }) => readState(runStateAfter(events)),
  'the hooks of React': readHooks,
  'the blocks of the projection': readBlocks,
  'the lines of the CLI': readPlainLines,
  'the log of the server': readServerLog,
  'the costs of the dashboard by task': readTaskCosts,
  'the costs of the dashboard by model': readModelCosts,
  'a trace of AgentEnsemble': readTrace,
  'a trace file in the dashboard': readTraceFile,
  'the spans of OpenTelemetry': readSpans,
  'the metrics of the server': readMetrics,
  ...PROTOCOL_READERS,
  ...RECORD_READERS,
}
