/** Reads the values of options and arguments; what does not fit is said by commander, with the name of the option. */
import { RunStatus, type RunStatusList } from '@tutti/protocol'
import { InvalidArgumentError } from 'commander'

const MAX_PORT = 65_535

/** A port, as text: it goes on as a variable. */
export function portOf(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return text
  throw new InvalidArgumentError(`It must be a number from 0 to ${MAX_PORT}; 0 is any free port.`)
}

/** A reader of whole numbers in a range. */
export function countFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (/^\d+$/.test(text) && count >= least && count <= most) return count
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

/** A number of seconds above 0, in milliseconds. */
export function secondsOf(text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds * 1_000
  throw new InvalidArgumentError('It must be a number of seconds above 0.')
}

/** An amount of US dollars above 0. */
export function dollarsOf(text: string): number {
  const dollars = Number(text)
  if (text.trim() !== '' && Number.isFinite(dollars) && dollars > 0) return dollars
  throw new InvalidArgumentError('It must be a number of US dollars above 0, such as 0.50.')
}

/** Statuses of runs with commas between them, in any case. */
export function statusesOf(text: string): RunStatusList {
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
