/** Pure: what to do about a submit that failed. */
import { TuttiClientError } from '@tutti/client'

import { CommandError, tellingOf } from '../command-error.ts'

/** What was submitted, and where. */
export interface Submitted {
  readonly url: string
  /** The command as it was given, without `tutti run`. */
  readonly words: readonly string[]
  /** Present when the run has this id for sure, if there is one. */
  readonly runId: string | undefined
}

const INPUT = '/inputs/'

/** The error as the command tells it: how to give the inputs that are missing, and where the run may be. */
export function submitError(error: unknown, { url, words, runId }: Submitted): unknown {
  if (!TuttiClientError.isInstance(error)) return error
  const { exit, message, advice } = tellingOf(error, url)
  const missing = (error.problems ?? []).flatMap(({ path, message: reason }) =>
    path.startsWith(INPUT) && reason.startsWith('is required') ? [path.slice(INPUT.length)] : [],
  )
  if (missing.length > 0) {
    const pairs = missing.map((name) => `${unescaped(name)}=…`)
    const example = ['tutti run', ...words.map(quoted), ...pairs].join(' ')
    return new CommandError(exit, message, [`Give a value to each: ${example}`])
  }
  if (runId === undefined || exit !== 'UNREACHABLE' || !mayHaveArrived(error)) return error
  return new CommandError(exit, message, [
    ...advice,
    `Nobody knows whether it was taken in; when the server is back: tutti watch ${runId}`,
  ])
}

/** What a connection fails with that was there, so that the request may have arrived. */
const BROKEN = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
])

/** Whether the server may have taken the request in, and only its answer was lost. */
function mayHaveArrived(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    code === 'TIMED_OUT' || BROKEN.has(code) || ('cause' in error && mayHaveArrived(error.cause))
  )
}

/** A segment of a JSON pointer as it was. */
function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
