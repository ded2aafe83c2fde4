/** Failures of commands: message, advice and exit code. */
import { TuttiClientError } from '@tutti/client'
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import type { Exit } from './exit-codes.ts'

/** A failure that is reported by its message and advice, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exit: Exit
  /** Suggestions for the user, one line each. */
  readonly advice: readonly string[]

  constructor(exit: Exit, message: string, advice: readonly string[] = []) {
    super(message)
    this.exit = exit
    this.advice = advice
  }
}

/** Report of a failure: lines for people, and the exit code. */
export interface FailureReport {
  readonly exit: Exit
  readonly message: string
  readonly advice: readonly string[]
}

/** Converts an error that a command threw into a report. `url` is the server that the command called. */
export function toFailureReport(error: unknown, url: string): FailureReport {
  if (error instanceof CommandError) return error
  if (TuttiClientError.isInstance(error)) return describeClientError(error, url)
  if (TuttiError.isInstance(error)) return { exit: 'FAILED', message: error.message, advice: [] }
  // The error is unexpected: a bug report needs its stack.
  const message = error instanceof Error ? (error.stack ?? error.message) : errorMessage(error)
  return { exit: 'FAILED', message, advice: [] }
}

function describeClientError(error: TuttiClientError, url: string): FailureReport {
  const { code, message, problems = [], status } = error
  const lines = problems.map(({ path, message: reason }) => `  ${path || '/'}: ${reason}`)
  const text = [formatServerMessage(error), ...lines].join('\n')
  if (code === 'CONNECTION_FAILED' || code === 'TIMED_OUT') {
    const advice = [
      `Is a server running at ${url}? Start one with: tutti dev`,
      'To use another address, set --url or TUTTI_URL',
    ]
    return {
      exit: 'UNREACHABLE',
      message: `Cannot reach ${url}: ${findNetworkReason(message)}`,
      advice,
    }
  }
  if (code === 'BAD_RESPONSE') {
    const advice = [`Check that ${url} is a Tutti server of a compatible version`]
    return { exit: 'UNREACHABLE', message: text, advice }
  }
  if (code === 'UNAUTHORIZED') {
    return {
      exit: 'REFUSED',
      message: text,
      advice: ['Set TUTTI_API_KEY to a key of this server'],
    }
  }
  if (code === 'FORBIDDEN') {
    return {
      exit: 'REFUSED',
      message: text,
      advice: ['The key lacks a scope: use a key that has it'],
    }
  }
  return { exit: status === 400 ? 'USAGE' : 'REFUSED', message: text, advice: adviseOn(error) }
}

/** Returns the server's message without the request line, which the user did not write, and without the listed problems. */
function formatServerMessage({ message, code, problems: [first] = [] }: TuttiClientError): string {
  const said = message.replace(/^[A-Z]+ \S+ returned \d+ [A-Z_]+: /, '')
  const head = first === undefined ? said : (said.split(`: ${first.path} `, 1)[0] ?? said)
  return head === message ? message : `${head} (${code})`
}

/** Returns the network error, which `fetch` appends to its own message in parentheses. */
function findNetworkReason(message: string): string {
  return /\(([^()]+)\)$/.exec(message)?.[1] ?? message
}

function adviseOn({ code, retryAfterMs }: TuttiClientError): readonly string[] {
  if (code === 'RUN_NOT_FOUND') return ['List the runs of this server: tutti runs']
  if (code === 'TOOL_NOT_FOUND') return ['List the tools of this server: tutti tools']
  if (code === 'REVIEW_NOT_FOUND') return ['List the open reviews: tutti review']
  if (retryAfterMs !== undefined) return [`Try again in ${Math.ceil(retryAfterMs / 1_000)} s`]
  return []
}
