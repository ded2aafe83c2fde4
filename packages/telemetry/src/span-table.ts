/** Open spans of one run, and the state that all kinds of spans share. */
import { AddedTasks } from './added-tasks.ts'
import { GEN_AI, TUTTI } from './attributes.ts'
import { OpenSpan, type EndedSpan, type SpanEnd, type SpanStart } from './open-span.ts'

import type { Attributes } from '@opentelemetry/api'
import type { RunEvent } from '@tutti/protocol'
import type { ModelNames } from './options.ts'

/** An event from the log, or from a run in process, where it has no `seq`. */
export type TracedEvent = RunEvent & { readonly seq?: number }

export interface RunSpansOptions {
  readonly runId: string
  readonly captureContent: boolean
  /** Maximum number of tasks with spans that one attempt adds. */
  readonly maxAddedTasks: number
  readonly modelNames: ModelNames
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string
  /** Called with each span that ends. */
  readonly onEnd: (ended: EndedSpan) => void
}

/** A task attempt in progress. */
export interface OpenAttempt {
  readonly key: string
  readonly span: OpenSpan
  /** Number of model calls so far, by turn. */
  readonly chats: Map<number, number>
  /** Names of the tools that the current turn calls, by call id. */
  readonly toolNames: Map<string, string>
  /** Number of requests to agents so far, by the key of their call. */
  readonly agentTries: Map<string, number>
  /** Number of ended calls by key: a call that is repeated after a crash repeats its steps. */
  readonly endedCalls: Map<string, number>
  /** The current model call. */
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
  /** Attempts in progress, by the name of their task. */
  readonly attempts = new Map<string, OpenAttempt>()
  readonly added: AddedTasks
  /** Open delegations, by the name of their task. */
  readonly delegations = new Map<string, OpenSpan>()
  /** Time of the current event, or of the previous one if it has no time; in milliseconds since 1970. */
  nowMs = 0
  /** Time of the previous event. */
  beforeMs = 0
  seq: number | undefined
  /** Id of the run's thread or chat; undefined without one. */
  conversationId: string | undefined
  root: OpenSpan | undefined
  readonly #open = new Map<string, OpenSpan>()
  /** Open spans by owner, in order: a run may have thousands of others. */
  readonly #owned = new Map<string | undefined, Set<OpenSpan>>()

  constructor(options: RunSpansOptions) {
    const { runId, captureContent, modelNames, redact, onEnd } = options
    this.added = new AddedTasks(options.maxAddedTasks)
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
    const ids = {
      [TUTTI.runId]: this.runId,
      ...(this.conversationId === undefined
        ? {}
        : { [GEN_AI.conversationId]: this.conversationId }),
    }
    const span = new OpenSpan({ ...start, attributes: { ...ids, ...attributes } })
    span.addSeq(this.seq)
    this.#forget(this.#open.get(span.key))
    this.#open.set(span.key, span)
    const others = this.#owned.get(span.owner)
    if (others === undefined) this.#owned.set(span.owner, new Set([span]))
    else others.add(span)
    return span
  }

  end(span: OpenSpan, end: SpanEnd): void {
    if (!this.#open.delete(span.key)) return
    this.#forget(span)
    span.addSeq(this.seq)
    span.set(this.added.takeAttributes(span))
    this.onEnd(span.end(end))
  }

  /** Whether a span has not ended. */
  isOpen(span: OpenSpan): boolean {
    return this.#open.get(span.key) === span
  }

  #forget(span: OpenSpan | undefined): void {
    const owned = span && this.#owned.get(span.owner)
    if (span === undefined || owned === undefined) return
    owned.delete(span)
    if (owned.size === 0) this.#owned.delete(span.owner)
  }

  /** Ends the open spans of `owner`, or all but the run itself, newest first. */
  endAll(end: SpanEnd, owner?: string): void {
    const spans = owner === undefined ? this.openSpans() : [...(this.#owned.get(owner) ?? [])]
    for (const span of spans.toReversed()) {
      if (span !== this.root) this.end(span, end)
    }
  }

  openSpans(): readonly OpenSpan[] {
    return [...this.#open.values()]
  }
}
