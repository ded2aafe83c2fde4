/**
 * W3C trace context: which trace work belongs to. @see https://www.w3.org/TR/trace-context/
 *
 * The spans of a run have ids that follow from its trace and from what they are of: whoever hands out the context of
 * a tool call, and whoever tells a collector of it afterwards, agree without talking to each other, also in another
 * process after a crash.
 */

/** What work is asked for in: `traceparent`, and what the tracing systems on the way have added to it. */
export interface TraceContext {
  /** Such as `00-<trace>-<span>-01`. */
  readonly traceparent?: string
  /** Such as `vendor=value,other=value`; passed on as it is. */
  readonly tracestate?: string
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Characters of a `tracestate` that everybody has to pass on. @see https://www.w3.org/TR/trace-context/#tracestate-limits */
const MAX_TRACESTATE_LENGTH = 512

/** Members of a `tracestate`, at most. */
const MAX_TRACESTATE_MEMBERS = 32

/** A member of a list, with the white space that may be round it; its value may hold all but `,` and `=`. */
const MEMBER = /^[ \t]*[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}[ \t]*$/

/** Whether a text is a `traceparent` of the version that is known here. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text)
}

/** Whether a text is a `tracestate`: a list that is not empty, of members that have a key and a value. */
export function isTracestate(text: string): boolean {
  if (text.length > MAX_TRACESTATE_LENGTH) return false
  const members = text.split(',').filter((member) => member.trim() !== '')
  const isShort = members.length > 0 && members.length <= MAX_TRACESTATE_MEMBERS
  return isShort && members.every((member) => MEMBER.test(member))
}

/**
 * The context that somebody sends. A `traceparent` that is not as it should be is none, and a `tracestate` without one
 * says nothing: so W3C has it.
 */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext {
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return {}
  const isState = typeof tracestate === 'string' && isTracestate(tracestate)
  return isState ? { traceparent, tracestate } : { traceparent }
}

/** The start of a trace that nobody records. */
export function newTraceparent(): string {
  return `00-${createRandomHex(16)}-${createRandomHex(8)}-00`
}

/** The same trace with a span of its own. */
export function childTraceparent(traceparent: string): string {
  return replaceSpan(traceparent, createRandomHex(8))
}

/** The same trace, in the span with this key. */
export function spanTraceparent(traceparent: string, key: string): string {
  return replaceSpan(traceparent, spanId(traceIdOf(traceparent), key))
}

/** The id of the trace, in hex. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}

/** Whether the spans of the trace are to be recorded. */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53), 16) & 1) === 1
}

/** What the span of a run is called; the keys of all other spans of it begin with its id, too. */
export function runSpanKey(runId: string): string {
  return `${runId}/run`
}

/** Where a tool call is in its run. */
export interface ToolCallPlace {
  readonly runId: string
  readonly taskIndex: number
  readonly attempt: number
  readonly iterationIndex: number
  readonly toolCallId: string
}

/** What the span of a tool call is called. */
export function toolCallSpanKey(place: ToolCallPlace): string {
  const { runId, taskIndex, attempt, iterationIndex, toolCallId } = place
  return `${runId}/call:${taskIndex}:${attempt}:${iterationIndex}:${toolCallId}`
}

/**
 * The id of the span with this key: 64 bits of a hash of both, in hex. The same for the same trace and key, in every
 * process; never all zero.
 */
export function spanId(traceId: string, key: string): string {
  // cyrb53 by bryc (public domain) with all of its 64 bits: two lanes with odd factors, mixed into each other.
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  const text = `${traceId}/${key}`
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 2_654_435_761)
    low = Math.imul(low ^ unit, 1_597_334_677)
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  // All zero is no id: it comes up once in 2^64 times, and then this takes its place.
  if (high === 0 && low === 0) low = 1
  return toHex(high) + toHex(low)
}

function replaceSpan(traceparent: string, span: string): string {
  const [version, trace, , flags] = traceparent.split('-')
  return [version, trace, span, flags].join('-')
}

function toHex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}

function createRandomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  // All zero is no id: it comes up once in 2^64 times, and then this takes its place.
  if (random.every((byte) => byte === 0)) random[0] = 1
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
