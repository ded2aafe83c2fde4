/** A run that is interrupted anywhere and continues in another process: its spans are one trace, each sent once. */
import { defineTool, systemClock, Type, type Clock } from '@tutti/core'
import { agent, ensemble, task } from '@tutti/ensemble'
import type { RunStep } from '@tutti/ensemble/internal'
import { scriptedModel, scriptedReviewer } from '@tutti/testing'
import { expect, it } from 'vitest'

import { traceRuns } from '../src/index.ts'
import type { RunActivityLike } from '../src/internal.ts'
import { keepIn } from './readable.ts'
import { expectWholeTrace, spanNamed, treeOf } from './span-tree.ts'

import type { ChatModel } from '@tutti/ensemble/adapter'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { SentSpan } from './collector.ts'

const RUN_ID = 'run-1'

/** Ends of model calls and of requests to agents. */
const ENDS: ReadonlySet<string> = new Set([
  'llm_iteration_completed',
  'llm_iteration_failed',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
])

let lastMs = 0

/** Step of the clock: more than a short pause of the process, because some durations are measured in real time. */
const STEP_MS = 100

/** The clock of all runs. It never returns the same time twice: spans that begin in the same millisecond have no order. */
const clock: Clock = {
  ...systemClock,
  now() {
    lastMs = Math.max(lastMs + STEP_MS, systemClock.now())
    return lastMs
  },
}

interface Entry {
  readonly event?: RunEvent | undefined
  readonly step?: RunStep | undefined
}

/** Creates a model that answers from its messages, so that a second process receives the same answers as the first. */
function thinking(): ChatModel {
  return scriptedModel(({ messages }) => {
    const said = messages.map(({ content }) => content).join('\n')
    const turns = messages.filter(({ role }) => role === 'assistant').length
    if (said.includes('Work of Scout')) return 'Clear'
    if (said.includes('Answer ')) return '42'
    if (turns === 0) return use('whole', {}, 'c1')
    if (turns === 1) return use('ask', { input: 'x' }, 'c2')
    if (turns === 2)
      return use('delegate_task', { agentRole: 'Scout', taskDescription: 'Work of Scout' }, 'c3')
    return 'Done'
  })
}

function use(name: string, given: object, id: string) {
  return { toolCalls: [{ name, arguments: given, id }] }
}

function team() {
  const model = thinking()
  const part = defineTool({
    name: 'part',
    description: 'Part',
    input: Type.Object({}),
    execute: () => 'p',
  })
  const whole = defineTool({
    name: 'whole',
    description: 'Whole',
    input: Type.Object({}),
    execute: async (_, { callTool }) => {
      await callTool(part, {}, { step: 'a' })
      await callTool(part, {}, { step: 'b' })
      return 'w'
    },
  })
  const inner = ensemble({ name: 'inner', tasks: [task({ description: 'Answer {input}' })], model })
  const lead = agent({ role: 'Lead', goal: 'Lead', allowDelegation: true })
  return ensemble({
    name: 'team',
    model,
    tasks: [
      task({
        name: 'lead',
        description: 'Lead',
        agent: lead,
        // A call of a copy is a separate run, like a call of another agent.
        tools: [whole, { ...inner.asTool({ name: 'ask' }) }],
        review: true,
      }),
      task({
        name: 'scout',
        description: 'Work of Scout',
        agent: agent({ role: 'Scout', goal: 'Scout' }),
      }),
    ],
  })
}

/** Continues the run from the stored entries and returns the new ones, up to `most` entries in total. */
async function execute(
  kept: readonly Entry[],
  traceparent: string,
  most = Infinity,
): Promise<Entry[]> {
  const written: Entry[] = []
  const controller = new AbortController()
  const steps = kept.flatMap(({ step }) => (step === undefined ? [] : [step]))
  const full = Promise.withResolvers<void>()
  const take = (entry: Entry): boolean => {
    if (kept.length + written.length >= most) {
      full.resolve()
      return false
    }
    written.push(entry)
    return true
  }
  const handle = team().start(
    {},
    {
      runId: RUN_ID,
      traceparent,
      clock,
      signal: controller.signal,
      reviewer: scriptedReviewer(['CONTINUE']),
      journal: {
        emit: (event, step) => void take({ event, step }),
        // A process that has ended receives no answer.
        commit: (step, event) =>
          take({ event, step }) ? Promise.resolve() : new Promise(() => undefined),
      },
      ...(steps.length === 0 ? {} : { resume: { steps, epoch: 2 } }),
    },
  )
  await Promise.race([handle.result, full.promise])
  controller.abort()
  return written
}

function logOf(entries: readonly Entry[]): readonly LoggedRunEvent[] {
  return entries
    .flatMap(({ event }) => (event === undefined ? [] : [event]))
    .map((event, seq) => ({ ...event, runId: RUN_ID, seq, id: `${RUN_ID}:${seq}` }))
}

/** Returns the spans of a process that claims the run after `from` events and writes those up to `to`. */
async function spansOf(
  log: readonly LoggedRunEvent[],
  {
    from,
    to,
    traceparent,
    lostOwners,
  }: {
    readonly from: number
    readonly to: number
    readonly traceparent: string
    readonly lostOwners: number
  },
): Promise<readonly SentSpan[]> {
  const spans: SentSpan[] = []
  const errors: unknown[] = []
  const tracing = traceRuns({ processor: keepIn(spans), onError: (error) => errors.push(error) })
  const service = tracing.service(({ from: first, limit, types }) =>
    Promise.resolve(
      log
        .filter(({ seq, type }) => seq >= first && types.some((known) => known === type))
        .slice(0, limit),
    ),
  )
  const claimed: RunActivityLike = {
    kind: 'claimed',
    lostOwners,
    run: { runId: RUN_ID, lastSeq: from - 1, request: { traceparent } },
  }
  service.onActivity(claimed)
  service.onExecuted(RUN_ID, log.slice(from, to))
  service.onActivity({ kind: 'released', runId: RUN_ID })
  await tracing.shutdown()
  expect(errors).toEqual([])
  return spans
}

const { traceparent } = traceRuns({ processor: keepIn([]) }).run({ runId: RUN_ID })
const uncut = await execute([], traceparent)

it('The trace of a run without a crash is complete', async () => {
  const log = logOf(uncut)
  const spans = await spansOf(log, { from: 0, to: log.length, traceparent, lostOwners: 0 })
  expectWholeTrace(spans)
  const call = spanNamed(spans, 'execute_tool delegate_task')
  expect(call.parentSpanId).toBe(spanNamed(spans, 'delegate Scout').parentSpanId)
  // The call and the delegation begin in the same millisecond: their order is not defined.
  expect(treeOf(spans.filter((span) => span !== call))).toEqual([
    'invoke_workflow team',
    '  invoke_agent Lead',
    '    chat model',
    '    execute_tool whole',
    '      execute_tool part',
    '      execute_tool part',
    '    chat model',
    '    execute_tool ask',
    '      invoke_agent ask',
    '    chat model',
    '    delegate Scout',
    '      invoke_agent Scout',
    '        chat model',
    '    chat model',
    '    review after task',
    '  invoke_agent Scout',
    '    chat model',
  ])
})

it('A handover sends each span exactly once', async () => {
  const log = logOf(uncut)
  const whole = await spansOf(log, { from: 0, to: log.length, traceparent, lostOwners: 0 })
  for (let cut = 1; cut < log.length; cut += 1) {
    const before = await spansOf(log, { from: 0, to: cut, traceparent, lostOwners: 0 })
    const after = await spansOf(log, { from: cut, to: log.length, traceparent, lostOwners: 1 })
    const ids = (spans: readonly SentSpan[]): readonly string[] =>
      spans.map(({ spanId }) => spanId).toSorted()
    expect(ids([...before, ...after]), `cut after ${log[cut - 1]?.type}`).toEqual(ids(whole))
  }
})

it('A run that crashed at any event has one complete trace', async () => {
  for (let cut = 1; cut < uncut.length; cut += 1) {
    const first = await execute([], traceparent, cut)
    const second = await execute(first, traceparent)
    const log = logOf([...first, ...second])
    const from = logOf(first).length
    if (from === 0) continue
    const before = await spansOf(log, { from: 0, to: from, traceparent, lostOwners: 0 })
    const after = await spansOf(log, { from, to: log.length, traceparent, lostOwners: 1 })
    const spans = [...before, ...after]
    expectWholeTrace(spans)
    const run = spanNamed(spans, 'invoke_workflow team')
    expect(run.attributes['tutti.run.status']).toBe('COMPLETED')
    expect(run.startMs).toBe(Date.parse(startedAtOf(log)))
    // Every started model call has a span, also a call without a recorded end.
    const begun = log.filter(({ type }) => type === 'llm_iteration_started')
    expect(spans.filter(({ name }) => name.startsWith('chat'))).toHaveLength(begun.length)
    const asked = log.filter(({ type }) => type === 'agent_tool_invoked')
    expect(spans.filter(({ name }) => name === 'invoke_agent ask')).toHaveLength(asked.length)
    // A call without an end in the log was interrupted, and ends before the run continues.
    const ended = log.filter(({ type }) => ENDS.has(type))
    const interrupted = spans.filter(({ attributes }) => attributes['error.type'] === 'INTERRUPTED')
    expect(interrupted).toHaveLength(begun.length + asked.length - ended.length)
    const resumedMs = Math.max(
      ...log.map((event) => ('resumedAt' in event ? Date.parse(event.resumedAt) : 0)),
    )
    for (const { endMs } of interrupted) expect(endMs).toBeLessThanOrEqual(resumedMs)
  }
})

it('A trace contains a decision that was written while no process had the run', async () => {
  const log = logOf(uncut)
  const decided = log.findIndex(({ type }) => type === 'review_decided')
  const before = await spansOf(log, { from: 0, to: decided, traceparent, lostOwners: 0 })
  const after = await spansOf(log, {
    from: decided + 1,
    to: log.length,
    traceparent,
    lostOwners: 0,
  })
  const spans = [...before, ...after]
  expectWholeTrace(spans)
  expect(spanNamed(spans, 'review after task').attributes['tutti.review.decision']).toBe('CONTINUE')
})

function startedAtOf(log: readonly LoggedRunEvent[]): string {
  const started = log.find((event) => event.type === 'ensemble_started')
  if (started === undefined) throw new Error('The run did not begin')
  return started.startedAt
}
