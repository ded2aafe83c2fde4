/** Pure: in which trace an MCP client calls, and what the run may use, by `_meta` of the call. */
import { isTraceparent } from '@tutti/core'

import { readLimits } from '../a2a/usage.ts'
import { badRequest } from '../http/api-error.ts'

import type { SubmitRun } from '@tutti/runs'

/** What a run of a call begins with, besides its inputs. */
export interface CallSurroundings {
  /** For the submission. */
  readonly submit: Pick<SubmitRun, 'budget' | 'traceparent'>
  /** How long the run may take from its submission, in milliseconds; absent when there is no limit. */
  readonly deadlineMs?: number
}

/**
 * What `_meta` says. A `traceparent` that is not as it should be is none.
 *
 * @throws {TuttiError} BAD_REQUEST naming every limit that is none.
 * @see https://modelcontextprotocol.io/specification/draft/basic on the reserved key `traceparent`
 */
export function callSurroundings(
  meta: Readonly<Record<string, unknown>> | undefined,
): CallSurroundings {
  const traceparent = meta?.['traceparent']
  const isTrace = typeof traceparent === 'string' && isTraceparent(traceparent)
  const trace = isTrace ? { traceparent } : {}
  const read = readLimits(meta)
  if (read === undefined) return { submit: trace }
  if (!read.ok) {
    const problems = read.problems.map((one) => ({ ...one, path: `/_meta${one.path}` }))
    throw badRequest('Call', problems)
  }
  const { deadlineMs, ...budget } = read.limits
  return {
    submit: { ...trace, ...(Object.keys(budget).length === 0 ? {} : { budget }) },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  }
}
