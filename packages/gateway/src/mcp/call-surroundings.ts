/** Pure: in which trace an MCP client calls, and what the run may use, by `_meta` of the call. */
import { traceContextOf, type TraceContext } from '@tutti/core'

import { readLimits } from '../a2a/usage.ts'
import { badRequest } from '../http/api-error.ts'

import type { ServerContext } from '@modelcontextprotocol/server'
import type { McpRequest } from '@tutti/core'
import type { SubmitRun } from '@tutti/runs'

/** What a run of a call begins with, besides its inputs. */
export interface CallSurroundings {
  /** For the submission. */
  readonly submit: Pick<SubmitRun, 'budget' | 'isAllowance' | 'traceparent' | 'tracestate'>
  /** How long the run may take from its submission, in milliseconds; absent when there is no limit. */
  readonly deadlineMs?: number
}

/**
 * What `_meta` says. A `traceparent` that is not as it should be is none.
 *
 * @throws {TuttiError} BAD_REQUEST naming every limit that is none.
 * @see https://modelcontextprotocol.io/specification/draft/basic on the reserved keys `traceparent` and `tracestate`
 */
export function callSurroundings(
  meta: Readonly<Record<string, unknown>> | undefined,
): CallSurroundings {
  const trace = traceOfMeta(meta)
  const read = readLimits(meta)
  if (read === undefined) return { submit: trace }
  if (!read.ok) {
    const problems = read.problems.map((one) => ({ ...one, path: `/_meta${one.path}` }))
    throw badRequest('Call', problems)
  }
  const { deadlineMs, ...budget } = read.limits
  const limited = Object.keys(budget).length === 0 ? {} : { budget, isAllowance: true }
  return {
    submit: { ...trace, ...limited },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  }
}

/** The call, for tools and handlers. */
export function mcpRequest(
  name: string,
  given: Readonly<Record<string, unknown>>,
  { mcpReq: { _meta: meta } }: Pick<ServerContext, 'mcpReq'>,
): McpRequest {
  return { protocol: 'mcp', name, arguments: given, ...(meta === undefined ? {} : { meta }) }
}

/** The trace that `_meta` names. A `traceparent` that is not as it should be is none. */
export function traceOfMeta(meta: Readonly<Record<string, unknown>> | undefined): TraceContext {
  return traceContextOf(meta?.['traceparent'], meta?.['tracestate'])
}
