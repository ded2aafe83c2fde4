/** Pure: adds advice to the error of a submit. */
import { TuttiClientError } from '@tutti/client'

import type { Problem } from '@tutti/protocol/internal'

import { CommandError, toFailureReport } from '../command-error.ts'

/** Context of a submit. */
export interface Submitted {
  readonly url: string
  /** Arguments of `tutti run`. */
  readonly args: readonly string[]
  /** Id that the run has if it was accepted; undefined when the server chooses the id. */
  readonly runId: string | undefined
}

/** Returns the error with advice: how to provide missing inputs, or how to find a run that may have been accepted. */
export function submitError(error: unknown, { url, args, runId }: Submitted): unknown {
  if (!TuttiClientError.isInstance(error)) return error
  const { exit, message, advice } = toFailureReport(error, url)
  const { problems = [] } = error
  const missing = findInputs(problems, 'is required')
  if (missing.length > 0) {
    const unknown = findInputs(problems, 'is not a known input')
    const given = args.filter((arg) => !unknown.some((name) => arg.startsWith(`${name}=`)))
    const pairs = missing.map((name) => `${name}=…`)
    const example = ['tutti run', ...given.map(quoteForShell), ...pairs].join(' ')
    return new CommandError(exit, message, [`Provide the missing inputs: ${example}`])
  }
  if (runId === undefined || exit !== 'UNREACHABLE' || !mayHaveArrived(error)) return error
  return new CommandError(exit, message, [
    ...advice,
    `The run may have been accepted. When the server is back: tutti watch ${runId}`,
  ])
}

/** Returns the names of the inputs with a problem that begins with `reason`. */
function findInputs(problems: readonly Problem[], reason: string): readonly string[] {
  return problems.flatMap(({ path, message }) => {
    const [, name] = /^\/inputs\/([^/]+)$/.exec(path) ?? []
    return name !== undefined && message.startsWith(reason) ? [unescapeSegment(name)] : []
  })
}

/** Error codes of established connections that broke, so that the request may have arrived. */
const BROKEN = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
])

/** Whether the server may have accepted the request, and only its response was lost. */
function mayHaveArrived(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    code === 'TIMED_OUT' || BROKEN.has(code) || ('cause' in error && mayHaveArrived(error.cause))
  )
}

/** Decodes a segment of a JSON pointer. */
function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
