/** Pure: parses durations of the wire. */

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Length of each part; a year and a month have no fixed length. */
const PARTS_MS = [NaN, NaN, 7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS]

/**
 * Parses an ISO-8601 duration such as `PT1.5S` to milliseconds; undefined when it is not a duration, or contains years
 * or months, which have no fixed length.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3339#appendix-A
 */
export function durationMs(text: string): number | undefined {
  const [, ...parts] = DURATION.exec(text) ?? []
  const lengths = PARTS_MS.flatMap((partMs, index) => {
    const part = parts[index]
    return part === undefined ? [] : [Number(part) * partMs]
  })
  const sum = lengths.reduce((total, length) => total + length, 0)
  return lengths.length === 0 || Number.isNaN(sum) ? undefined : sum
}
