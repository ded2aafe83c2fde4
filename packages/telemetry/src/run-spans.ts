/**
 * Creates the spans of one run from its events.
 *
 *   run ─┬─ review before a task
 *        └─ task attempt ─┬─ model call
 *                         ├─ tool call ─┬─ step ─ …
 *                         │             ├─ request to an agent
 *                         │             └─ review of the call
 *                         ├─ delegation ─ task attempt of the worker ─ …
 *                         └─ review of its output
 *
 * TEL-S1 The same events make the same spans with the same ids in every process.
 * TEL-S2 Each span ends once: a span that is open when its task or its run ends, ends with it.
 * TEL-S3 Calls that were in flight when a process was lost end as INTERRUPTED; work that continues in the next process
 *    is the same span.
 * TEL-S4 A span contains what models, tools and people say only with `captureContent`. An error has its code and
 *    message.
 *
 * Each kind of event has its own file.
 */
import { SpanKind } from '@opentelemetry/api'
import { runSpanKey } from '@tutti/core/internal'
import type { RunEventOf } from '@tutti/protocol'
import { eventTime } from '@tutti/protocol/internal'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { takeAgentEvent } from './agent-spans.ts'
import { takeReviewEvent, takeSteeringEvent } from './review-spans.ts'
import { takeRunEvent } from './run-span.ts'
import { SpanTable, type RunSpansOptions, type TracedEvent } from './span-table.ts'
import { takeTaskEvent } from './task-spans.ts'
import { takeToolEvent } from './tool-spans.ts'
import { takeChatEvent } from './chat-spans.ts'

/** Creates the spans of one run, by the rules above. */
export class RunSpans {
  readonly #table: SpanTable
  #isOver = false

  constructor(options: RunSpansOptions) {
    this.#table = new SpanTable(options)
  }

  /** Whether the run has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Takes the next event. */
  take(event: TracedEvent): void {
    if (this.#isOver) return
    const table = this.#table
    table.seq = event.seq
    table.beforeMs = table.nowMs
    // Clocks of processes differ; within a run, time does not go back.
    table.nowMs = Math.max(eventTime(event) ?? table.nowMs, table.nowMs)
    beginRun(table, event)
    const handlers = [
      takeRunEvent,
      takeTaskEvent,
      takeChatEvent,
      takeToolEvent,
      takeAgentEvent,
      takeReviewEvent,
    ]
    const isKnown = handlers.some((handle) => handle(table, event))
    if (!isKnown) takeSteeringEvent(table, event)
    if (event.type === 'run_result') this.#isOver = true
  }
}

/** Opens the span of the run: when it is submitted, or in process when it starts. */
/** Tags with the id of a chat of the AI SDK, and of a thread of AG-UI. */
const CHAT_TAGS = ['chat', 'aguiThread'] as const

function findConversation({ threadId, tags }: RunEventOf<'run_queued'>): string | undefined {
  const id = threadId ?? CHAT_TAGS.map((name) => tags[name]).find((tag) => tag !== undefined)
  return id === undefined ? undefined : `${id}`
}

function beginRun(table: SpanTable, event: TracedEvent): void {
  if (table.root !== undefined) return
  if (event.type !== 'run_queued' && event.type !== 'ensemble_started') return
  const { ensemble, workflow, totalTasks } = event
  if (event.type === 'run_queued') table.conversationId = findConversation(event)
  table.root = table.open({
    key: runSpanKey(table.runId),
    name: `${OPERATION.invokeWorkflow} ${ensemble}`,
    kind: SpanKind.INTERNAL,
    startMs: table.nowMs,
    parent: undefined,
    attributes: {
      [GEN_AI.operationName]: OPERATION.invokeWorkflow,
      [GEN_AI.workflowName]: ensemble,
      [TUTTI.workflow]: workflow,
      [TUTTI.taskCount]: totalTasks,
    },
  })
}
