/**
 * Calls one tool by hand, outside of any run.
 *
 *   name ─find─▶ tool ─turn─▶ input ─check─▶ body ─▶ result, bounded
 *
 * I1 Input that does not fit is refused with every problem before the body runs; a failure, a throw and a
 *    timeout of the tool are results that say FAILED.
 * I2 At most `maxToolCalls` calls are in flight, over REST and WebSocket together; one more is refused.
 * I3 A tool that needs a person's approval is refused: nobody is there to give it, and silence is no yes.
 * I4 When the caller goes away the signal of the tool aborts.
 * I5 A tool that is set up wrongly is a fault of the server: it is logged under an id that the caller gets.
 * I6 The result and its progress hold no secrets of the operator.
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
import { unknownName, type Problem, type ToolInvocation } from '@tutti/protocol'

import { badRequest } from '../http/api-error.ts'
import { boundedResult } from './bounded-result.ts'
import { invocationArguments, type GivenInput } from './tool-arguments.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Redactor } from '../http/on-error.ts'

/** What a call by hand needs of the control API. */
export type ToolDesk = Pick<
  GatewayOptions,
  'tools' | 'clock' | 'logger' | 'maxToolCalls' | 'toolMetrics' | 'redactor'
>

/** One call by hand. */
export interface Invocation {
  readonly input: GivenInput
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal
  /** Stable identity of the call, for tools that look at it. @default a random one */
  readonly idempotencyKey?: string
  /** W3C trace context of whoever calls. */
  readonly traceparent?: string
  readonly tracestate?: string
  /** The call of the MCP client, for the tool. */
  readonly request?: RunToolOptions['request']
  /** Told how far the call is. */
  readonly onProgress?: RunToolOptions['onProgress']
}

/** The role under which calls by hand are counted. */
const AGENT_ROLE = 'by hand'

/** When a caller that found every turn taken may come again, in milliseconds. */
const RETRY_MS = 1_000

/** Turns by catalog: whoever calls tools of one catalog shares them. */
const turnsByCatalog = new WeakMap<ToolCatalog, Limiter>()

/**
 * The tool of a name among `known`.
 *
 * @throws {TuttiError} TOOL_NOT_FOUND naming the known ones; NOT_CONFIGURED when there is none at all.
 */
export function findTool(known: readonly AgentTool[], name: string): AgentTool {
  const found = known.find((tool) => tool.name === name)
  if (found !== undefined) return found
  if (known.length === 0) {
    throw new TuttiError('NOT_CONFIGURED', 'This server has no tools that could be called')
  }
  const names = known.map((tool) => tool.name)
  throw new TuttiError('TOOL_NOT_FOUND', unknownName('tool', name, names))
}

/**
 * Calls `tool`.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem of the input; FORBIDDEN when the tool needs
 * approval; CONCURRENCY_LIMIT; TOOL_EXECUTION_FAILED.
 */
export async function invokeCatalogTool(
  desk: ToolDesk,
  tool: AgentTool,
  invocation: Invocation,
): Promise<ToolInvocation> {
  if (tool.requireApproval) throw needsPerson(tool.name)
  const turns = turnsOf(desk)
  if (!turns.tryAcquire()) throw tooMany(turns.maxConcurrent)
  try {
    return await callTool(desk, tool, invocation)
  } finally {
    turns.release()
  }
}

async function callTool(
  desk: ToolDesk,
  tool: AgentTool,
  { input, signal, idempotencyKey, traceparent, tracestate, request, onProgress }: Invocation,
): Promise<ToolInvocation> {
  const text = await fittingArguments(tool, input)
  const { clock, logger, toolMetrics, redactor } = desk
  const nobody = new Nobody()
  const call = { id: crypto.randomUUID(), name: tool.name, arguments: text }
  const outcome = await runTool(tool, call, {
    signal,
    clock,
    logger,
    agentRole: AGENT_ROLE,
    reviewer: nobody,
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
  if (outcome.end === 'misconfigured') throw misconfigured(desk, tool.name, outcome)
  if (nobody.wasAsked && !outcome.result.success) throw needsPerson(tool.name)
  const { durationMs, result } = outcome
  return {
    tool: tool.name,
    durationMs,
    ...redactor.value(boundedResult(withoutSecrets(result, redactor))),
  }
}

/**
 * Redacts texts before they are cut: the rest of a secret that was cut in two would not be recognized. A value is
 * redacted later, when it is known to be JSON.
 */
function withoutSecrets(
  { output, errorMessage, ...result }: ToolResult,
  redactor: Redactor,
): ToolResult {
  return {
    ...result,
    output: redactor.text(output),
    ...(errorMessage === undefined ? {} : { errorMessage: redactor.text(errorMessage) }),
  }
}

/** The arguments as JSON text, which is what a tool call carries. */
async function fittingArguments(tool: AgentTool, input: GivenInput): Promise<string> {
  const given = invocationArguments(tool, input)
  const read = given.ok ? await tool.readInput(given.value) : given
  if (given.ok && read.ok) return JSON.stringify(given.value)
  const problems: readonly Problem[] = read.ok ? [] : read.problems
  throw badRequest(
    `Input of tool "${tool.name}"`,
    problems.map((problem) => ({ ...problem, path: `/input${problem.path}` })),
  )
}

function turnsOf({ tools, maxToolCalls }: ToolDesk): Limiter {
  const known = turnsByCatalog.get(tools)
  if (known !== undefined) return known
  const made = createLimiter({ maxConcurrent: maxToolCalls })
  turnsByCatalog.set(tools, made)
  return made
}

/** Stands in for the reviewer that a call by hand does not have: refuses, and remembers that it was asked. */
class Nobody implements Reviewer {
  wasAsked = false

  decide(): ReturnType<Reviewer['decide']> {
    this.wasAsked = true
    return Promise.resolve({ action: 'REJECT', feedback: 'a call by hand has no reviewer' })
  }
}

function needsPerson(name: string): TuttiError {
  return new TuttiError(
    'FORBIDDEN',
    `Tool "${name}" needs the answer of a person, whom a call by hand does not have; run a task that uses it`,
  )
}

function tooMany(limit: number): TuttiError {
  return new TuttiError(
    'CONCURRENCY_LIMIT',
    `${limit} tool calls are in flight, which is the limit`,
    {
      retryable: true,
      details: { retryAfterMs: RETRY_MS, reason: 'tool_calls' },
    },
  )
}

function misconfigured(
  { logger }: Pick<ToolDesk, 'logger'>,
  name: string,
  { error }: ToolCallOutcome,
): TuttiError {
  const requestId = crypto.randomUUID()
  logger.error('A tool is set up wrongly', { requestId, tool: name, error })
  return new TuttiError(
    'TOOL_EXECUTION_FAILED',
    `Tool "${name}" is set up wrongly; the log of the server has the reason under ${requestId}`,
    { details: { requestId }, cause: error },
  )
}
