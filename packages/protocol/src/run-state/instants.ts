/**
 * Pure: instants reckoned from others, in the wire's form. There is none where the result is no time that
 * can be written, so that an odd number in an event throws nothing.
 */

/** The instant `ms` milliseconds before another; undefined when that is not known or no time. */
export function subtractMs(instant: string | undefined, ms: number): string | undefined {
  return instant === undefined ? undefined : toInstant(Date.parse(instant) - ms)
}

/** Milliseconds since 1970 as an instant; undefined when they are no time. */
export function toInstant(ms: number): string | undefined {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
