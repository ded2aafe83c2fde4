/**
 * Runs one tool call safely. Whatever the tool does, the caller gets exactly one outcome.
 *
 * R1 A throw of the tool body becomes a failed result; it never reaches the caller.
 * R2 A call ends at its time limit, also when the tool ignores its signal.
 * R3 When the caller's signal aborts, the tool's signal aborts at once; the outcome waits for the tool
 *    to stop, at most `graceMs`, and says when it was abandoned.
 * R4 Arguments are parsed and checked before the body runs.
 */
import { errorMessage } from './errors.ts'
import { silentLogger, type Logger } from './logger.ts'
import { systemClock, type Clock } from './clock.ts'
import { ToolResult } from './tool-result.ts'

import type { AgentTool } from './tool.ts'

/** One call as a model made it. */
export interface ToolCall {
  /** The model's id of the call. */
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them: JSON text. */
  readonly arguments: string
}

/** How a call ended, besides its result. */
export type ToolCallEnd = 'finished' | 'timed_out' | 'cancelled' | 'abandoned'

/** Result of one call and how it came about. */
export interface ToolCallOutcome {
  readonly result: ToolResult
  readonly durationMs: number
  readonly end: ToolCallEnd
}

/** Surroundings of a call. */
export interface RunToolOptions {
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly logger?: Logger
  readonly agentRole?: string
  readonly taskName?: string
  readonly runId?: string
  /** Stable identity of the call. @default the model's id of the call */
  readonly idempotencyKey?: string
  /** How long a cancelled tool may take to stop, in milliseconds. @default 5000 */
  readonly graceMs?: number
}

/**
 * How long what was cancelled may take to stop before it is abandoned: enough to close a connection or
 * end a child process, short enough for a person who waits.
 */
export const CANCEL_GRACE_MS = 5_000

/** Runs `call` on `tool`; never rejects. */
export async function runTool(
  tool: AgentTool,
  call: ToolCall,
  options: RunToolOptions = {},
): Promise<ToolCallOutcome> {
  const clock = options.clock ?? systemClock
  const startedAt = clock.elapsed()
  const parsed = parseArguments(tool.name, call.arguments)
  const ended = parsed.ok
    ? await runBody({ tool, call, input: parsed.value, options, clock })
    : ({ result: parsed.failure, end: 'finished' } as const)
  return { ...ended, durationMs: Math.max(0, Math.round(clock.elapsed() - startedAt)) }
}

type Ended = Omit<ToolCallOutcome, 'durationMs'>

interface BodyCall {
  readonly tool: AgentTool
  readonly call: ToolCall
  readonly input: unknown
  readonly options: RunToolOptions
  readonly clock: Clock
}

/** Runs the tool body against its time limit and the caller's signal, whichever ends first. */
function runBody(body: BodyCall): Promise<Ended> {
  const { tool, clock, options } = body
  const { signal, graceMs = CANCEL_GRACE_MS } = options
  if (signal?.aborted === true) return Promise.resolve(cancelled(tool.name, 'cancelled'))
  const controller = new AbortController()
  return new Promise((resolve) => {
    let stopGrace: (() => void) | undefined
    const finish = (ended: Ended): void => {
      stopTimeout()
      stopGrace?.()
      signal?.removeEventListener('abort', onAbort)
      resolve(ended)
    }
    const stopTimeout = clock.after(tool.timeoutMs, () => {
      const message = `Tool "${tool.name}" timed out after ${tool.timeoutMs} ms`
      controller.abort(new DOMException(message, 'TimeoutError'))
      finish({ result: ToolResult.failure(message), end: 'timed_out' })
    })
    const onAbort = (): void => {
      stopTimeout()
      controller.abort(signal?.reason)
      stopGrace = clock.after(graceMs, () => {
        finish(cancelled(tool.name, 'abandoned'))
      })
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    void callSafely(body, controller.signal).then((result) => {
      const gone = signal?.aborted === true
      finish(gone ? cancelled(tool.name, 'cancelled') : { result, end: 'finished' })
    })
  })
}

/** Calls the tool; what it throws becomes a failed result. */
async function callSafely(
  { tool, call, input, options }: BodyCall,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { taskName, runId } = options
  try {
    return await tool.call(input, {
      signal,
      callId: call.id,
      idempotencyKey: options.idempotencyKey ?? call.id,
      agentRole: options.agentRole ?? 'unknown',
      logger: options.logger ?? silentLogger,
      ...(taskName === undefined ? {} : { taskName }),
      ...(runId === undefined ? {} : { runId }),
    })
  } catch (error) {
    options.logger?.warn('Tool threw', { tool: tool.name, callId: call.id, error })
    return ToolResult.failure(errorMessage(error))
  }
}

function cancelled(name: string, end: 'cancelled' | 'abandoned'): Ended {
  const how = end === 'abandoned' ? 'was abandoned: it ignored its signal' : 'was cancelled'
  return { result: ToolResult.failure(`Tool "${name}" ${how}`), end }
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: ToolResult }

function parseArguments(name: string, text: string): Parsed {
  if (text.trim() === '') return { ok: true, value: {} }
  try {
    const value: unknown = JSON.parse(text)
    return { ok: true, value }
  } catch (error) {
    const failure = ToolResult.failure(
      `Invalid input for "${name}": arguments are not JSON (${errorMessage(error)})`,
    )
    return { ok: false, failure }
  }
}
