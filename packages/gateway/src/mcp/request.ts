/** Pure: reads the calls of MCP clients. */
import { traceContextOf, type McpRequest, type TraceContext } from '@tutti/core/internal'
import { pointer, type Problem } from '@tutti/protocol/internal'
import type { Ensemble, Inputs } from '@tutti/ensemble'
import { missingInputs, namedInputs } from '@tutti/ensemble/internal'

import { badRequest } from '../http/api-error.ts'
import { readLimits } from '../service/caller-limits.ts'

import type { BeginRequest } from '../service/gateway-service.ts'
import type { ServerContext } from '@modelcontextprotocol/server'

/** Tag of runs with the name under which they were called. */
const MCP_TAG = 'mcp'

/** One call of a listed tool. */
export interface McpCall {
  /** Name under which the tool was called. */
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
  /** `_meta` of the call. */
  readonly meta: Readonly<Record<string, unknown>> | undefined
}

/**
 * Reads the call of an ensemble. An invalid `traceparent` is ignored.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 * @see https://modelcontextprotocol.io/specification/draft/basic on the reserved keys `traceparent` and `tracestate`
 */
export function readCall(call: McpCall, ensemble: Ensemble): BeginRequest {
  const { name, given, meta } = call
  const inputs = readInputArguments(ensemble, given)
  const read = readLimits(meta)
  if (!read.ok) {
    const problems = read.problems.map((one) => ({ ...one, path: `/_meta${one.path}` }))
    throw badRequest('call', problems)
  }
  return {
    ensemble,
    inputs,
    tags: { [MCP_TAG]: name },
    origin: toMcpRequest(call),
    trace: readCallTrace(meta),
    limits: read.limits,
  }
}

/** Returns the call in the form in which tools and handlers see it. */
export function toMcpRequest({ name, given, meta }: McpCall): McpRequest {
  return { protocol: 'mcp', name, arguments: given, ...(meta === undefined ? {} : { meta }) }
}

/** Returns the call of an SDK context. */
export function toMcpCall(
  name: string,
  given: McpCall['given'],
  { mcpReq }: Pick<ServerContext, 'mcpReq'>,
): McpCall {
  return { name, given, meta: mcpReq._meta }
}

/** Returns the trace context in `_meta`; an invalid one is ignored. */
export function readCallTrace(meta: McpCall['meta']): TraceContext {
  return traceContextOf(meta?.['traceparent'], meta?.['tracestate'])
}

/**
 * Reads the inputs of a run: a text for each template variable, and for any of the other inputs that the ensemble lists.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readInputArguments(
  ensemble: Pick<Ensemble, 'name' | 'tasks' | 'inputs'>,
  given: Readonly<Record<string, unknown>>,
): Inputs {
  const missing = missingInputs(ensemble.tasks, given)
  const known = namedInputs(ensemble)
  const problems = [
    ...missing.map((variable) => ({
      path: `/${variable}`,
      message: 'is required: a task uses this template variable',
      expected: 'string',
    })),
    ...Object.entries(given).flatMap(([key, value]) => findArgumentProblems(key, value, known)),
  ]
  if (problems.length > 0) throw badRequest(`arguments of "${ensemble.name}"`, problems)
  // NOTE: without a problem, every value is a string.
  return given as Inputs
}

function findArgumentProblems(
  key: string,
  value: unknown,
  known: readonly string[],
): readonly Problem[] {
  const path = pointer('', key)
  if (!known.includes(key)) {
    const list = known.length === 0 ? 'there are none' : `known: ${known.join(', ')}`
    return [{ path, message: `is not a known input (${list})` }]
  }
  if (typeof value === 'string') return []
  return [{ path, message: `must be a string, got ${JSON.stringify(value)}`, expected: 'string' }]
}
