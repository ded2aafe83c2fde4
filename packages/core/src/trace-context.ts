/** W3C trace context: which trace work belongs to. @see https://www.w3.org/TR/trace-context/ */

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether a text is a `traceparent` of the version that is known here. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text)
}

/** The start of a trace that nobody records. */
export function newTraceparent(): string {
  return `00-${randomHex(16)}-${randomHex(8)}-00`
}

/** The same trace with a span of its own. */
export function childTraceparent(traceparent: string): string {
  const [version, trace, , flags] = traceparent.split('-')
  return [version, trace, randomHex(8), flags].join('-')
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  // All zero is no id: it comes up once in 2^64 times, and then this takes its place.
  if (random.every((byte) => byte === 0)) random[0] = 1
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
