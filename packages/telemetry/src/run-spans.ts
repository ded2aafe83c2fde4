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
import { SpanKind, type Attributes } from '@opentelemetry/api'
import { runSpanKey } from '@tutti/core'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { timeOf } from './event-time.ts'
import { OpenSpan, type EndedSpan, type SpanEnd, type SpanStart } from './open-span.ts'
import { agentEvent } from './agent-spans.ts'
import { reviewEvent, steeringEvent } from './review-spans.ts'
import { runEvent } from './run-span.ts'
import { taskEvent } from './task-spans.ts'
import { toolEvent } from './tool-spans.ts'
import { chatEvent } from './chat-spans.ts'

import type { ModelNames } from './options.ts'
import type { RunEvent } from '@tutti/protocol'

/** An event as a reader of the log has it, or as a run in process tells it. */
export type TracedEvent = RunEvent & { readonly seq?: number }

/** What spans are made with. */
export interface RunSpansOptions {
  readonly runId: string
  readonly captureContent: boolean
  readonly modelNames: ModelNames
  /** Takes out of a text what nobody is to read. */
  readonly redact: (text: string) => string
  /** Told of each span that ends. */
  readonly onEnd: (ended: EndedSpan) => void
}

/** Facts about a task attempt that is under way. */
export interface TaskFacts {
  readonly key: string
  readonly span: OpenSpan
  /** Model calls so far, by turn. */
  readonly chats: Map<number, number>
  /** Names of the tools that the present turn asks for, by the id of the call. */
  readonly toolNames: Map<string, string>
  /** Requests to agents so far, by the key of their call. */
  readonly agentTries: Map<string, number>
  /** How often calls have ended, by key: the steps of a call that is made again after a crash are made again. */
  readonly endedCalls: Map<string, number>
  /** The model call that is under way. */
  chat: OpenSpan | undefined
  iterationIndex: number
}

/** What a kind of span works with. */
export interface SpanTable extends RunSpansOptions {
  /** When the event that is told happened, or when the one before it did. */
  readonly nowMs: number
  /** When the event before this one happened. */
  readonly beforeMs: number
  readonly tasks: Map<string, TaskFacts>
  /** Delegations that are under way, by the name of the task that they made. */
  readonly delegations: Map<string, OpenSpan>
  readonly root: OpenSpan | undefined
  find(key: string): OpenSpan | undefined
  open(start: Omit<SpanStart, 'attributes'> & { readonly attributes?: Attributes }): OpenSpan
  end(span: OpenSpan, end: SpanEnd): void
  /** Ends what belongs to `owner`, or all but the run itself, the newest first. */
  endAll(end: SpanEnd, owner?: string): void
  openSpans(): readonly OpenSpan[]
}

/** Makes the spans of one run; see the rules above. */
export class RunSpans {
  readonly #table: MutableTable
  #isOver = false

  constructor(options: RunSpansOptions) {
    this.#table = new MutableTable(options)
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
    table.nowMs = Math.max(timeOf(event) ?? table.nowMs, table.nowMs)
    beginRun(table, event)
    const handlers = [runEvent, taskEvent, chatEvent, toolEvent, agentEvent, reviewEvent]
    const isKnown = handlers.some((handle) => handle(table, event))
    if (!isKnown) steeringEvent(table, event)
    if (event.type === 'run_result') this.#isOver = true
  }
}

/** The run begins when it is taken in; one in process, when it starts. */
function beginRun(table: MutableTable, event: TracedEvent): void {
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

class MutableTable implements SpanTable {
  readonly runId: string
  readonly captureContent: boolean
  readonly modelNames: ModelNames
  readonly redact: (text: string) => string
  readonly onEnd: (ended: EndedSpan) => void
  readonly tasks = new Map<string, TaskFacts>()
  readonly delegations = new Map<string, OpenSpan>()
  nowMs = 0
  beforeMs = 0
  seq: number | undefined
  root: OpenSpan | undefined
  readonly #open = new Map<string, OpenSpan>()

  constructor({ runId, captureContent, modelNames, redact, onEnd }: RunSpansOptions) {
    this.runId = runId
    this.captureContent = captureContent
    this.modelNames = modelNames
    this.redact = redact
    this.onEnd = onEnd
  }

  find(key: string): OpenSpan | undefined {
    const span = this.#open.get(key)
    span?.sawSeq(this.seq)
    return span
  }

  open({
    attributes = {},
    ...start
  }: Omit<SpanStart, 'attributes'> & { readonly attributes?: Attributes }): OpenSpan {
    const ids = { [TUTTI.runId]: this.runId, [GEN_AI.conversationId]: this.runId }
    const span = new OpenSpan({ ...start, attributes: { ...ids, ...attributes } })
    span.sawSeq(this.seq)
    this.#open.set(span.key, span)
    return span
  }

  end(span: OpenSpan, end: SpanEnd): void {
    if (!this.#open.delete(span.key)) return
    span.sawSeq(this.seq)
    this.onEnd(span.end(end))
  }

  endAll(end: SpanEnd, owner?: string): void {
    for (const span of this.openSpans().toReversed()) {
      if (span === this.root) continue
      if (owner === undefined || span.owner === owner) this.end(span, end)
    }
  }

  openSpans(): readonly OpenSpan[] {
    return [...this.#open.values()]
  }
}
