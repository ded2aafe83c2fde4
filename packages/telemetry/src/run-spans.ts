/**
 * The spans of one run, made of its events.
 *
 *   run ─┬─ review before a task
 *        └─ task attempt ─┬─ model call
 *                         ├─ tool call ─┬─ step ─ …
 *                         │             ├─ request to an agent
 *                         │             └─ review of the call
 *                         ├─ delegation ─ task attempt of the worker ─ …
 *                         └─ review of its output
 *
 * S1 The same events make the same spans, with the same ids, in whatever process.
 * S2 Each span has one end, in every ending: what is open when its task or its run ends, ends with it.
 * S3 What was in flight when a process was lost ends as INTERRUPTED; what goes on in the next goes on as the same span.
 * S4 Of what is said, nothing is in a span unless content is asked for; of an error, its code and its message.
 *
 * The kinds of events are in the files beside this one; this one knows which spans are open.
 */
import { SpanKind } from '@opentelemetry/api'
import { runSpanKey } from '@tutti/core'
import { eventTime } from '@tutti/protocol'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { takeAgentEvent } from './agent-spans.ts'
import { takeReviewEvent, takeSteeringEvent } from './review-spans.ts'
import { takeRunEvent } from './run-span.ts'
import { SpanTable, type RunSpansOptions, type TracedEvent } from './span-table.ts'
import { takeTaskEvent } from './task-spans.ts'
import { takeToolEvent } from './tool-spans.ts'
import { takeChatEvent } from './chat-spans.ts'

/** Makes the spans of one run; see the rules above. */
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
    // The clocks of two processes differ; within a run time does not go back.
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

/** The run begins when it is taken in; one in process, when it starts. */
function beginRun(table: SpanTable, event: TracedEvent): void {
  if (table.root !== undefined) return
  if (event.type !== 'run_queued' && event.type !== 'ensemble_started') return
  const { ensemble, workflow, totalTasks } = event
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
