/**
 * A span from its beginning to its end.
 *
 * O1 A span lies within the span that it is a part of, and no span ends before what it is made of: instants of events
 *    are whole milliseconds of clocks that may be set, so that they can be off by a little.
 */
import { SpanStatusCode, type Attributes, type HrTime, type SpanKind } from '@opentelemetry/api'
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions'

import { TUTTI } from './attributes.ts'

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

/** Events of one span, at most; the rest is counted. */
const MAX_EVENTS = 128

/** How a span begins. */
export interface SpanStart {
  /** What its id follows from, below the id of its run. */
  readonly key: string
  readonly name: string
  readonly kind: SpanKind
  readonly startMs: number
  readonly attributes: Attributes
  /** The span that it is a part of; undefined for the run itself. */
  readonly parent: OpenSpan | undefined
  /** The task attempt that it is a part of, in whose end it ends at the latest. */
  readonly owner?: string | undefined
}

/** How a span ends. */
export interface SpanEnd {
  readonly endMs: number
  readonly attributes?: Attributes
  /** What went wrong; absent when nothing did. */
  readonly error?: { readonly type: string; readonly message?: string | undefined }
}

/** A span that has begun. */
export class OpenSpan {
  readonly key: string
  readonly kind: SpanKind
  readonly owner: string | undefined
  readonly attributes: Attributes
  readonly events: ReadableSpan['events'] = []
  name: string
  startMs: number
  parent: OpenSpan | undefined
  droppedEvents = 0
  /** The end of the latest of its parts that has ended. */
  #partsMs: number

  constructor({ key, name, kind, startMs, attributes, parent, owner }: SpanStart) {
    this.key = key
    this.name = name
    this.kind = kind
    this.owner = owner
    this.attributes = { ...attributes }
    this.parent = parent
    this.startMs = Math.max(startMs, parent?.startMs ?? startMs)
    this.#partsMs = this.startMs
  }

  /** Adds to its attributes; what is undefined is left out. */
  set(attributes: Readonly<Attributes>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.attributes[name] = value
    }
  }

  /** Notes that an event of the log belongs to it. */
  addSeq(seq: number | undefined): void {
    if (seq === undefined) return
    this.attributes[TUTTI.seqFirst] ??= seq
    this.attributes[TUTTI.seqLast] = seq
  }

  /** Has it begin earlier, as far as the span that it is a part of allows. */
  extendStart(startMs: number): void {
    this.startMs = Math.max(Math.min(this.startMs, startMs), this.parent?.startMs ?? startMs)
  }

  addEvent(name: string, timeMs: number, attributes: Attributes = {}): void {
    if (this.events.length >= MAX_EVENTS) {
      this.droppedEvents += 1
      return
    }
    const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
    const time = Math.max(timeMs, this.startMs)
    this.#extendTo(time)
    this.events.push({ name, time: toHrTime(time), attributes: Object.fromEntries(given) })
  }

  /** Ends it. The caller lets go of it; nothing may be a part of it any more. */
  end({ endMs, attributes = {}, error }: SpanEnd): EndedSpan {
    this.set(attributes)
    if (error !== undefined) this.set({ [ATTR_ERROR_TYPE]: error.type })
    const at = Math.max(endMs, this.startMs, this.#partsMs)
    if (this.parent !== undefined) this.parent.#extendTo(at)
    const message = error?.message
    const status =
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) }
    return { span: this, endMs: at, status }
  }

  #extendTo(timeMs: number): void {
    this.#partsMs = Math.max(this.#partsMs, timeMs)
  }
}

/** A span that has ended. */
export interface EndedSpan {
  readonly span: OpenSpan
  readonly endMs: number
  readonly status: ReadableSpan['status']
}

/** Milliseconds since 1970 as OpenTelemetry has them: seconds, and nanoseconds of the next. */
export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)]
}
