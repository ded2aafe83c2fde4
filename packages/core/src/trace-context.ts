/**
 * W3C trace context: the trace that work belongs to. @see https://www.w3.org/TR/trace-context/
 *
 * Span ids of a run are derived from its trace and from what each span is about. The code that passes on the context of a tool
 * call and the code that later reports it to a collector thus agree without communication, even in another process after a
 * crash.
 */

/** Trace context of a request: `traceparent`, and the additions of the tracing systems that it passed. */
export interface TraceContext {
  /** Trace and parent span, such as `00-<trace>-<span>-01`. */
  readonly traceparent?: string
  /** Vendor data, such as `vendor=value,other=value`; passed on unchanged. */
  readonly tracestate?: string
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Length of a `tracestate` that every system must pass on. @see https://www.w3.org/TR/trace-context/#tracestate-limits
 */
const MAX_TRACESTATE_LENGTH = 512

/** Maximum number of members of a `tracestate`. */
const MAX_TRACESTATE_MEMBERS = 32

/**
 * Member of the list, with optional surrounding white space; its value can contain all characters except `,` and `=`.
 */
const MEMBER = /^[ \t]*[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}[ \t]*$/

/** Whether a text is a `traceparent` of the supported version. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text)
}

/** Whether a text is a `tracestate`: a non-empty list of members with a key and a value. */
export function isTracestate(text: string): boolean {
  if (text.length > MAX_TRACESTATE_LENGTH) return false
  const members = text.split(',').filter((member) => member.trim() !== '')
  const isShort = members.length > 0 && members.length <= MAX_TRACESTATE_MEMBERS
  return isShort && members.every((member) => MEMBER.test(member))
}

/**
 * Returns the trace context of a request. As W3C specifies, an invalid `traceparent` is ignored, and so is a
 * `tracestate` without a valid `traceparent`.
 */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext {
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return {}
  const isState = typeof tracestate === 'string' && isTracestate(tracestate)
  return isState ? { traceparent, tracestate } : { traceparent }
}

/** Returns the start of a new trace that is not sampled. */
export function newTraceparent(): string {
  return `00-${createRandomHex(16)}-${createRandomHex(8)}-00`
}

/** Returns the same trace with a new random span. */
export function childTraceparent(traceparent: string): string {
  return replaceSpan(traceparent, createRandomHex(8))
}

/** Returns the same trace with the span of this key. */
export function spanTraceparent(traceparent: string, key: string): string {
  return replaceSpan(traceparent, spanId(traceIdOf(traceparent), key))
}

/** Returns the id of the trace, in hex. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}

/** Whether the spans of the trace must be recorded. */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53), 16) & 1) === 1
}

/** Returns the key of the span of a run. The keys of its other spans also begin with the run id. */
export function runSpanKey(runId: string): string {
  return `${runId}/run`
}

/** Position of a tool call in its run. */
export interface ToolCallPlace {
  readonly runId: string
  readonly taskIndex: number
  readonly attempt: number
  readonly iterationIndex: number
  readonly toolCallId: string
}

/** Returns the key of the span of a tool call. */
export function toolCallSpanKey(place: ToolCallPlace): string {
  const { runId, taskIndex, attempt, iterationIndex, toolCallId } = place
  return `${runId}/call:${taskIndex}:${attempt}:${iterationIndex}:${toolCallId}`
}

/**
 * Returns the id of the span with this key: 64 bits of a hash of both, in hex. It is the same for the same trace and
 * key in every process, and never all zero.
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
  // An id must not be all zero, which happens once in 2^64 times.
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
  // An id must not be all zero, which happens once in 2^64 times.
  if (random.every((byte) => byte === 0)) random[0] = 1
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
