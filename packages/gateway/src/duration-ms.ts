/** Pure: parses durations of the wire. */
import { MAX_DURATION_MS } from '@tutti/protocol/internal'

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The durations that {@link durationMs} parses, for problems. */
export const WANTED_DURATION =
  'must be a duration longer than 0, at most P36500D, without years or months'

/** Length of each part; a year and a month have no fixed length. */
const PARTS_MS = [NaN, NaN, 7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS]

/**
 * Parses an ISO-8601 duration such as `PT1.5S` to milliseconds; undefined when it is not a duration, contains years or
 * months, which have no fixed length, or is longer than {@link MAX_DURATION_MS}.
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
  return lengths.length > 0 && sum <= MAX_DURATION_MS ? sum : undefined
}
