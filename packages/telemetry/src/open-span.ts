/**
 * A span from its start to its end.
 *
 * TEL-O1 A span lies within its parent, and does not end before its children and its events. Times of events may be
 *    slightly inconsistent, because they are whole milliseconds of clocks that can be set.
 */
import { SpanStatusCode, type Attributes, type HrTime, type SpanKind } from '@opentelemetry/api'
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions'

import { TUTTI } from './attributes.ts'

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

/** Maximum number of events of a span; further ones are counted. */
const MAX_EVENTS = 128

export interface SpanStart {
  /** Key from which the id of the span is computed; starts with the id of its run. */
  readonly key: string
  readonly name: string
  readonly kind: SpanKind
  readonly startMs: number
  readonly attributes: Attributes
  /** Parent span; undefined for the run itself. */
  readonly parent: OpenSpan | undefined
  /** Key of the task attempt that contains the span and ends it at the latest. */
  readonly owner?: string | undefined
}

export interface SpanEnd {
  readonly endMs: number
  readonly attributes?: Attributes
  /** Error; absent if the work succeeded or was cancelled. */
  readonly error?: { readonly type: string; readonly message?: string | undefined }
}

/** A span that has started. */
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
  /** Time of the latest end of a child or event. */
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

  /** Adds attributes; undefined ones are omitted. */
  set(attributes: Readonly<Attributes>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.attributes[name] = value
    }
  }

  /** Records that an event of the log belongs to the span. */
  addSeq(seq: number | undefined): void {
    if (seq === undefined) return
    this.attributes[TUTTI.seqFirst] ??= seq
    this.attributes[TUTTI.seqLast] = seq
  }

  /** Moves the start to an earlier time, but not before the start of the parent. */
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

  /** Ends the span, which must not get further children. */
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

/** Converts milliseconds since 1970 to OpenTelemetry's pair of seconds and nanoseconds. */
export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)]
}
