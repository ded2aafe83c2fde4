/**
 * Calls one tool directly, outside of any run.
 *
 *   name ─find─▶ tool ─limiter─▶ input ─check─▶ body ─▶ limited result
 *
 * GW-I1 Invalid input is refused with every problem before the body runs. A failure, an exception and a timeout of the
 *    tool are results with the status FAILED.
 * GW-I2 At most `maxToolCalls` calls are in flight, over REST and WebSocket together; further ones are refused.
 * GW-I3 A tool that requires approval is refused, because a direct call has no reviewer.
 * GW-I4 When the caller disconnects, the signal of the tool aborts.
 * GW-I5 A misconfigured tool is an internal error, which is logged with an id that the caller receives.
 * GW-I6 The result and its progress contain no secrets of the operator.
 */
import {
  createLimiter,
  runTool,
  TuttiError,
  type AgentTool,
  type Limiter,
  type Reviewer,
  type ToolCallOutcome,
  type ToolCatalog,
  type RunToolOptions,
  type ToolResult,
} from '@tutti/core'
import { formatExactJson } from '@tutti/core/internal'
import { unknownName, type Problem, type ToolInvocation } from '@tutti/protocol/internal'

import { badRequest } from '../http/api-error.ts'
import { limitResult } from './bounded-result.ts'
import { toInvocationArguments, type GivenInput } from './tool-arguments.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Redactor } from '../http/on-error.ts'

/** Parts of the server that direct calls need. */
export type ToolInvoker = Pick<
  GatewayOptions,
  'tools' | 'clock' | 'logger' | 'maxToolCalls' | 'toolMetrics' | 'redactor'
>

/** One direct call. */
export interface Invocation {
  readonly input: GivenInput
  /** Aborts when the caller no longer waits for the result. */
  readonly signal: AbortSignal
  /** Idempotency key of the call, for tools that use it. @default a random one */
  readonly idempotencyKey?: string
  /** W3C trace context of the caller. */
  readonly traceparent?: string
  readonly tracestate?: string
  /** Call of the MCP client, for the tool. */
  readonly request?: RunToolOptions['request']
  /** Called with the progress of the call. */
  readonly onProgress?: RunToolOptions['onProgress']
}

/** Role under which direct calls are counted. */
const AGENT_ROLE = 'by hand'

/** `Retry-After` at the limit of calls, in milliseconds. */
const RETRY_MS = 1_000

/** Limiters by catalog, which all callers of a catalog share. */
const limiters = new WeakMap<ToolCatalog, Limiter>()

/**
 * Finds a tool by name.
 *
 * @throws {TuttiError} TOOL_NOT_FOUND naming the known tools; NOT_CONFIGURED when there are none.
 */
export function findTool(known: readonly AgentTool[], name: string): AgentTool {
  const found = known.find((tool) => tool.name === name)
  if (found !== undefined) return found
  if (known.length === 0) {
    throw new TuttiError('NOT_CONFIGURED', 'This server has no tools')
  }
  const names = known.map((tool) => tool.name)
  throw new TuttiError('TOOL_NOT_FOUND', unknownName('tool', name, names))
}

/**
 * Calls a tool.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem of the input; FORBIDDEN when the tool requires a review;
 * CONCURRENCY_LIMIT at the limit of calls; TOOL_EXECUTION_FAILED for a misconfigured tool.
 */
export async function invokeCatalogTool(
  options: ToolInvoker,
  tool: AgentTool,
  invocation: Invocation,
): Promise<ToolInvocation> {
  if (tool.requireApproval) throw reviewRequired(tool.name)
  const limiter = getLimiter(options)
  if (!limiter.tryAcquire()) throw limitReached(limiter.maxConcurrent)
  try {
    return await callTool(options, tool, invocation)
  } finally {
    limiter.release()
  }
}

async function callTool(
  options: ToolInvoker,
  tool: AgentTool,
  { input, signal, idempotencyKey, traceparent, tracestate, request, onProgress }: Invocation,
): Promise<ToolInvocation> {
  const text = await checkArguments(tool, input)
  const { clock, logger, toolMetrics, redactor } = options
  const reviewer = new AbsentReviewer()
  const call = { id: crypto.randomUUID(), name: tool.name, arguments: text }
  const outcome = await runTool(tool, call, {
    signal,
    clock,
    logger,
    agentRole: AGENT_ROLE,
    reviewer,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(request === undefined ? {} : { request }),
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(toolMetrics === undefined ? {} : { metrics: toolMetrics }),
    ...(onProgress === undefined
      ? {}
      : {
          onProgress: (ofCall, progress) => {
            onProgress(ofCall, redactor.value(progress))
          },
        }),
  })
  if (outcome.end === 'misconfigured') throw misconfigured(options, tool.name, outcome)
  if (reviewer.wasAsked && !outcome.result.success) throw reviewRequired(tool.name)
  const { durationMs, result } = outcome
  return {
    tool: tool.name,
    durationMs,
    ...redactor.value(limitResult(redactResult(result, redactor))),
  }
}

/**
 * Redacts texts before they are cut, because a part of a secret would not be recognized. A value is redacted later,
 * when it is known to be JSON.
 */
function redactResult(
  { output, errorMessage, ...result }: ToolResult,
  redactor: Redactor,
): ToolResult {
  return {
    ...result,
    output: redactor.text(output),
    ...(errorMessage === undefined ? {} : { errorMessage: redactor.text(errorMessage) }),
  }
}

/** Validates the input and returns it as JSON text, the form in a tool call. */
async function checkArguments(tool: AgentTool, input: GivenInput): Promise<string> {
  const given = toInvocationArguments(tool, input)
  const read = given.ok ? await tool.readInput(given.value) : given
  if (given.ok && read.ok) return formatExactJson(given.value) ?? ''
  const problems: readonly Problem[] = read.ok ? [] : read.problems
  throw badRequest(
    `input of tool "${tool.name}"`,
    problems.map((problem) => ({ ...problem, path: `/input${problem.path}` })),
  )
}

function getLimiter({ tools, maxToolCalls }: ToolInvoker): Limiter {
  const known = limiters.get(tools)
  if (known !== undefined) return known
  const made = createLimiter({ maxConcurrent: maxToolCalls })
  limiters.set(tools, made)
  return made
}

/** Reviewer of direct calls: rejects, and remembers that it was asked. */
class AbsentReviewer implements Reviewer {
  wasAsked = false

  decide(): ReturnType<Reviewer['decide']> {
    this.wasAsked = true
    return Promise.resolve({ action: 'REJECT', feedback: 'a direct call has no reviewer' })
  }
}

function reviewRequired(name: string): TuttiError {
  return new TuttiError(
    'FORBIDDEN',
    `Tool "${name}" requires a review, which a direct call cannot have; run a task that uses the tool`,
  )
}

function limitReached(limit: number): TuttiError {
  return new TuttiError('CONCURRENCY_LIMIT', `Limit of concurrent tool calls reached: ${limit}`, {
    retryable: true,
    details: { retryAfterMs: RETRY_MS, reason: 'tool_calls' },
  })
}

function misconfigured(
  { logger }: Pick<ToolInvoker, 'logger'>,
  name: string,
  { error }: ToolCallOutcome,
): TuttiError {
  const requestId = crypto.randomUUID()
  logger.error('Misconfigured tool', { requestId, tool: name, error })
  return new TuttiError(
    'TOOL_EXECUTION_FAILED',
    `Tool "${name}" is misconfigured; the server log has the cause under ${requestId}`,
    { details: { requestId }, cause: error },
  )
}
