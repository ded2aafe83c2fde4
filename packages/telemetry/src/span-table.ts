/** The spans of one run that are open, and what the kinds of spans have in common. */
import { GEN_AI, TUTTI } from './attributes.ts'
import { OpenSpan, type EndedSpan, type SpanEnd, type SpanStart } from './open-span.ts'

import type { Attributes } from '@opentelemetry/api'
import type { RunEvent } from '@tutti/protocol'
import type { ModelNames } from './options.ts'

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
export interface OpenAttempt {
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

/** The open spans of one run. */
export class SpanTable {
  readonly runId: string
  readonly captureContent: boolean
  readonly modelNames: ModelNames
  readonly redact: (text: string) => string
  readonly onEnd: (ended: EndedSpan) => void
  readonly tasks = new Map<string, OpenAttempt>()
  /** Open delegations, by the name of the task that they made. */
  readonly delegations = new Map<string, OpenSpan>()
  /** Time of the present event; that of the one before when it does not say. */
  nowMs = 0
  /** Time of the event before the present one. */
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
    span?.addSeq(this.seq)
    return span
  }

  open({
    attributes = {},
    ...start
  }: Omit<SpanStart, 'attributes'> & { readonly attributes?: Attributes }): OpenSpan {
    const ids = { [TUTTI.runId]: this.runId, [GEN_AI.conversationId]: this.runId }
    const span = new OpenSpan({ ...start, attributes: { ...ids, ...attributes } })
    span.addSeq(this.seq)
    this.#open.set(span.key, span)
    return span
  }

  end(span: OpenSpan, end: SpanEnd): void {
    if (!this.#open.delete(span.key)) return
    span.addSeq(this.seq)
    this.onEnd(span.end(end))
  }

  /** Ends what belongs to `owner`, or everything but the run itself, the newest first. */
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
