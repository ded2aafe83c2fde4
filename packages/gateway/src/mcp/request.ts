/** Pure: reads the calls of MCP clients. */
import { traceContextOf, type McpRequest, type TraceContext } from '@tutti/core'
import { inputVariables, type Ensemble, type Inputs } from '@tutti/ensemble'

import { badRequest } from '../http/api-error.ts'
import { readLimits } from '../service/caller-limits.ts'

import type { BeginRequest } from '../service/gateway-service.ts'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Problem } from '@tutti/protocol'

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
 * Reads the inputs of a run: exactly one text for each template variable.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function readInputArguments(
  { name, tasks }: Pick<Ensemble, 'name' | 'tasks'>,
  given: Readonly<Record<string, unknown>>,
): Inputs {
  const variables = inputVariables(tasks)
  const missing = variables.filter((variable) => !Object.hasOwn(given, variable))
  const problems = [
    ...missing.map((variable) => ({
      path: `/${variable}`,
      message: 'is required: a task uses this template variable',
      expected: 'string',
    })),
    ...Object.entries(given).flatMap(([key, value]) => findArgumentProblems(key, value, variables)),
  ]
  if (problems.length > 0) throw badRequest(`arguments of "${name}"`, problems)
  // NOTE: without a problem, every value is a string.
  return given as Inputs
}

function findArgumentProblems(
  key: string,
  value: unknown,
  variables: readonly string[],
): readonly Problem[] {
  const path = `/${key}`
  if (!variables.includes(key)) {
    const known = variables.length === 0 ? 'there are none' : `known: ${variables.join(', ')}`
    return [{ path, message: `is not a template variable of any task (${known})` }]
  }
  if (typeof value === 'string') return []
  return [{ path, message: `must be a string, got ${JSON.stringify(value)}`, expected: 'string' }]
}
