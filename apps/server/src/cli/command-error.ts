/** How a command fails: what went wrong, what to do about it, and the exit code. */
import { TuttiClientError } from '@tutti/client'
import { errorMessage, TuttiError } from '@tutti/core'

import type { Exit } from './exit-codes.ts'

/** A failure that is told in words, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exit: Exit
  /** What the reader can do, one line each. */
  readonly advice: readonly string[]

  constructor(exit: Exit, message: string, advice: readonly string[] = []) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}

/** What is told of a failure: lines for people, and the exit code. */
export interface Telling {
  readonly exit: Exit
  readonly message: string
  readonly advice: readonly string[]
}

/** Makes words of whatever a command threw. `url` is the server it talked to. */
export function tellingOf(error: unknown, url: string): Telling {
  if (error instanceof CommandError) return error
  if (TuttiClientError.isInstance(error)) return ofClient(error, url)
  if (TuttiError.isInstance(error)) return { exit: 'FAILED', message: error.message, advice: [] }
  // Nobody expected it: who reports it needs to see where.
  const message = error instanceof Error ? (error.stack ?? error.message) : errorMessage(error)
  return { exit: 'FAILED', message, advice: [] }
}

function ofClient(error: TuttiClientError, url: string): Telling {
  const { code, message, problems = [], status } = error
  const lines = problems.map(({ path, message: reason }) => `  ${path || '/'}: ${reason}`)
  const text = [headOf(error), ...lines].join('\n')
  if (code === 'CONNECTION_FAILED' || code === 'TIMED_OUT') {
    const advice = [
      `Is a server running at ${url}? Start one with: tutti dev`,
      'Another address: --url, or the variable TUTTI_URL',
    ]
    return { exit: 'UNREACHABLE', message: `Cannot reach ${url}: ${reasonOf(message)}`, advice }
  }
  if (code === 'BAD_RESPONSE') {
    const advice = [`Is ${url} a Tutti server, of a version that this one knows?`]
    return { exit: 'UNREACHABLE', message: text, advice }
  }
  if (code === 'UNAUTHORIZED') {
    return {
      exit: 'REFUSED',
      message: text,
      advice: ['Set a key of this server in the variable TUTTI_API_KEY'],
    }
  }
  if (code === 'FORBIDDEN') {
    return {
      exit: 'REFUSED',
      message: text,
      advice: ['The key lacks a scope; ask for another one'],
    }
  }
  return { exit: status === 400 ? 'USAGE' : 'REFUSED', message: text, advice: adviceOn(error) }
}

/** What the server said, without the request, which the reader of a command did not write, and without what is listed. */
function headOf({ message, code, problems: [first] = [] }: TuttiClientError): string {
  const said = message.replace(/^[A-Z]+ \S+ returned \d+ [A-Z_]+: /, '')
  const head = first === undefined ? said : (said.split(`: ${first.path} `, 1)[0] ?? said)
  return head === message ? message : `${head} (${code})`
}

/** What the network said: `fetch` puts it in brackets behind what it says of itself. */
function reasonOf(message: string): string {
  return /\(([^()]+)\)$/.exec(message)?.[1] ?? message
}

function adviceOn({ code, retryAfterMs }: TuttiClientError): readonly string[] {
  if (code === 'RUN_NOT_FOUND') return ['The runs of this server: tutti runs']
  if (code === 'TOOL_NOT_FOUND') return ['The tools of this server: tutti tools']
  if (code === 'REVIEW_NOT_FOUND') return ['The reviews that wait: tutti review']
  if (retryAfterMs !== undefined) return [`Try again in ${Math.ceil(retryAfterMs / 1_000)} s`]
  return []
}
