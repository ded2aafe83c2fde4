/**
 * Formats numbers for people. An unknown value is an em dash, never 0. Amounts below a cent keep
 * two significant digits, because a run of many cheap calls is not free.
 */

/** Placeholder for unknown values. */
export const UNKNOWN = '—'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats a duration in milliseconds: `340 ms`, `4.2 s`, `3 m 07 s`, `2 h 05 m`, `3 d 4 h`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return UNKNOWN
  const span = Math.max(0, ms)
  if (span < SECOND) return `${Math.round(span)} ms`
  if (span < MINUTE) return `${(Math.floor(span / 100) / 10).toFixed(1)} s`
  if (span < HOUR)
    return `${countUnits(span, MINUTE)} m ${padTwo(countUnits(span % MINUTE, SECOND))} s`
  if (span < DAY) return `${countUnits(span, HOUR)} h ${padTwo(countUnits(span % HOUR, MINUTE))} m`
  return `${countUnits(span, DAY)} d ${countUnits(span % DAY, HOUR)} h`
}

/** Formats a number of tokens or calls: `812`, `12.4k`, `3.1M`. On the wire, -1 means unknown. */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined || count < 0) return UNKNOWN
  if (count < 10_000) return String(count)
  if (count < 999_950) return `${trimNumber(count / 1_000)}k`
  return `${trimNumber(count / 1_000_000)}M`
}

/** Formats US dollars: `$0`, `$0.0042`, `$0.37`, `$12.80`, `$1,204`. */
export function formatMoney(usd: number | null | undefined): string {
  if (usd === null || usd === undefined || !Number.isFinite(usd)) return UNKNOWN
  if (usd === 0) return '$0'
  if (usd < 0.000_001) return '<$0.000001'
  if (usd < 0.01) return `$${formatSmall(usd)}`
  if (usd < 1_000) return `$${usd.toFixed(2)}`
  return `$${Math.round(usd).toLocaleString('en-US')}`
}

/** Formats the age of an instant: `now`, `12 s ago`, `5 m ago`, `3 h ago`, `2 d ago`. */
export function formatAgo(instant: number, now: number): string {
  const ago = now - instant
  if (ago < 5 * SECOND) return 'now'
  if (ago < MINUTE) return `${countUnits(ago, SECOND)} s ago`
  if (ago < HOUR) return `${countUnits(ago, MINUTE)} m ago`
  if (ago < DAY) return `${countUnits(ago, HOUR)} h ago`
  return `${countUnits(ago, DAY)} d ago`
}

/** Formats a time of day with milliseconds, in the reader's time zone: `14:03:07.120`. */
export function formatClock(instant: number): string {
  const date = new Date(instant)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map(padTwo)
  return `${parts.join(':')}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** Formats a date and time in the reader's language, to the second; in the reader's time zone by default. */
export function formatInstant(instant: number, timeZone?: string): string {
  return new Date(instant).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone,
  })
}

/** Formats bytes: `812 B`, `12.4 kB`, `3.1 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 999_950) return `${trimNumber(bytes / 1_000)} kB`
  return `${trimNumber(bytes / 1_000_000)} MB`
}

/** Formats a count with its noun: `1 task`, `3 tasks`. */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Maximum length of an id that is shown in full. */
const WHOLE_ID = 14

/** Shortens an id to its start, which people search for, and its end, which differs most. */
export function formatShortId(id: string): string {
  return id.length <= WHOLE_ID ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}

function countUnits(span: number, unit: number): number {
  return Math.floor(span / unit)
}

function padTwo(value: number): string {
  return String(value).padStart(2, '0')
}

function trimNumber(value: number): string {
  return value < 100 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value))
}

/** Formats two significant digits, without an exponent and trailing zeros. */
function formatSmall(usd: number): string {
  const digits = Math.min(8, 1 - Math.floor(Math.log10(usd)))
  return usd.toFixed(digits).replace(/0+$/, '')
}

/** Formats the progress of a run: `3 of 6 tasks, 2 skipped`; `all` is the formatted number of tasks. */
export function formatProgress(
  { completed, skipped }: { readonly completed: number; readonly skipped: number },
  all: string,
): string {
  return `${completed} of ${all}${skipped === 0 ? '' : `, ${skipped} skipped`}`
}
