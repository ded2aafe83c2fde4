/** Parsers for options and arguments. Commander reports what they throw, with the name of the option. */
import { RunStatus } from '@tutti/protocol'
import { MAX_COST_USD, MAX_DURATION_MS, type RunStatusList } from '@tutti/protocol/internal'
import { InvalidArgumentError } from 'commander'

const MAX_PORT = 65_535

/** Gathers the values of an option that can be repeated. */
export function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Checks a port. Returns it as text, because it becomes an environment variable. */
export function parsePort(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return text
  throw new InvalidArgumentError(
    `It must be a number from 0 to ${MAX_PORT}; 0 selects a free port.`,
  )
}

/** Returns a parser for whole numbers from `least` to `most`. */
export function countParser(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (/^\d+$/.test(text) && count >= least && count <= most) return count
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

/** Parses a number of seconds above 0. Returns milliseconds. */
export function parseSeconds(text: string): number {
  const ms = Number(text) * 1_000
  if (text.trim() !== '' && ms > 0 && ms <= MAX_DURATION_MS) return ms
  throw new InvalidArgumentError(
    `It must be a number of seconds above 0, at most ${MAX_DURATION_MS / 1_000}.`,
  )
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Returns a parser for durations such as `90s`, `30m`, `12h` or `3d`, at most `maxMs`. It returns milliseconds. */
export function durationParser(maxMs: number): (text: string) => number {
  return (text) => {
    const ms = readDuration(text)
    if (ms > 0 && ms <= maxMs) return ms
    throw new InvalidArgumentError(`It must be ${describeDurations(maxMs)}.`)
  }
}

/** Parses the duration of a limit, or `never`. Returns milliseconds; 0 for `never`. */
export function parseTimeLimit(text: string): number {
  const ms = text === 'never' ? 0 : readDuration(text)
  if (text === 'never' || (ms > 0 && ms <= MAX_DURATION_MS)) return ms
  throw new InvalidArgumentError(`It must be ${describeDurations(MAX_DURATION_MS)}, or "never".`)
}

/** Returns a duration in milliseconds; 0 for any other text. */
function readDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  return Math.round(Number(count) * (UNITS[unit] ?? 0))
}

function describeDurations(maxMs: number): string {
  return `a duration such as 90s, 30m, 12h or 3d, at most ${maxMs / 86_400_000}d`
}

/** Parses an amount in US dollars above 0. */
export function parseDollars(text: string): number {
  const dollars = Number(text)
  if (text.trim() !== '' && dollars > 0 && dollars <= MAX_COST_USD) return dollars
  throw new InvalidArgumentError(
    `It must be an amount in US dollars above 0, at most ${MAX_COST_USD}, such as 0.50.`,
  )
}

/** Parses statuses of runs, separated by commas, in upper or lower case. */
export function parseStatuses(text: string): RunStatusList {
  const known: readonly string[] = RunStatus.enum
  const given = text.split(',').map((status) => status.trim().toUpperCase())
  const unknown = given.filter((status) => !known.includes(status))
  if (unknown.length > 0) {
    const list = known.join(', ')
    throw new InvalidArgumentError(
      `It must be one of ${list}, or several of them, separated by commas.`,
    )
  }
  // NOTE: each part has just been checked; the type of a list is a string that starts with one of them.
  return given.join(',') as RunStatusList
}

/** Parses a position in the event log of a run; negative numbers count from the end. */
export function parseEventPosition(text: string): number {
  if (/^-?\d{1,12}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}
