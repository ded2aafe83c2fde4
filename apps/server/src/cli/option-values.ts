/** Reads the values of options and arguments; what does not fit is said by commander, with the name of the option. */
import { RunStatus, type RunStatusList } from '@tutti/protocol'
import { InvalidArgumentError } from 'commander'

const MAX_PORT = 65_535

/** A port, as text: it goes on as a variable. */
export function parsePort(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return text
  throw new InvalidArgumentError(`It must be a number from 0 to ${MAX_PORT}; 0 is any free port.`)
}

/** A reader of whole numbers in a range. */
export function countParser(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (/^\d+$/.test(text) && count >= least && count <= most) return count
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

/** A number of seconds above 0, in milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds * 1_000
  throw new InvalidArgumentError('It must be a number of seconds above 0.')
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A duration such as `90s`, `30m`, `12h` or `3d`, in milliseconds; `never` is 0. */
export function durationOf(text: string): number {
  if (text === 'never') return 0
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  const ms = Math.round(Number(count) * (UNITS[unit] ?? 0))
  if (ms > 0 && Number.isSafeInteger(ms)) return ms
  throw new InvalidArgumentError('It must be a duration such as 90s, 30m, 12h or 3d, or never.')
}

/** An amount of US dollars above 0. */
export function dollarsOf(text: string): number {
  const dollars = Number(text)
  if (text.trim() !== '' && Number.isFinite(dollars) && dollars > 0) return dollars
  throw new InvalidArgumentError('It must be a number of US dollars above 0, such as 0.50.')
}

/** Statuses of runs with commas between them, in any case. */
export function parseStatuses(text: string): RunStatusList {
  const known: readonly string[] = RunStatus.enum
  const given = text.split(',').map((status) => status.trim().toUpperCase())
  const unknown = given.filter((status) => !known.includes(status))
  if (unknown.length > 0) {
    const list = known.join(', ')
    throw new InvalidArgumentError(
      `It must be one of ${list}, or several with commas between them.`,
    )
  }
  // NOTE: each part has just been looked up; the type of a list is a text with one of them at its start.
  return given.join(',') as RunStatusList
}

/** A place in the log of a run; negative counts from the end. */
export function parseEventPlace(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}
