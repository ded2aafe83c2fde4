/** Computed instants in the form of the wire; undefined instead of an error when the result is not a valid time. */

/** Returns the instant `ms` milliseconds before another; undefined when that is unknown or invalid. */
export function subtractMs(instant: string | undefined, ms: number): string | undefined {
  return instant === undefined ? undefined : toInstant(Date.parse(instant) - ms)
}

/** Returns milliseconds since 1970 as an instant; undefined when they are out of range. */
export function toInstant(ms: number): string | undefined {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
