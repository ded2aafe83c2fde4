/** Pure: durations as the wire writes them, in milliseconds. */

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What each part is worth; a month and a year have no length of their own. */
const PARTS_MS = [NaN, NaN, 7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS]

/**
 * The length of an ISO-8601 duration such as `PT1.5S` in milliseconds; undefined when it counts years or
 * months, which are not always as long, or is not a duration.
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
