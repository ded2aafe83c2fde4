/**
 * Safe execution of one tool call: the caller gets exactly one outcome, no matter what the tool does.
 *
 *   arguments ─parse─▶ input ─wait for a slot─▶ body ─▶ outcome ─▶ counted, returned
 *
 * `running-call.ts` is the body in flight, `call-context.ts` its context.
 *
 * CORE-R4 Arguments are parsed and checked before the body runs. Blank text stands for a call without arguments; for a tool
 *    whose input is an object without required fields, `null`, `""` and `[]` do as well.
 * CORE-R5 A call waits for its slot before its time limit starts, and the limits of the calls that it is a step of are
 *    paused meanwhile. The slot is returned when the call has its outcome, even when the tool ignores its signal.
 * CORE-R6 Every call that was not cancelled counts once: as success, failure or error.
 */
import { parseExactJson } from '@tutti/protocol/internal'

import { systemClock } from '../clock.ts'
import { errorMessage } from '../errors.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { CallContext } from './call-context.ts'
import { RunningCall, callListener, type CallToRun } from './running-call.ts'

import type { Limiter } from '../limiter.ts'
import type { CountedOutcome } from '../metrics.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'
import type { ToolCall, ToolCallEnd, ToolCallOutcome } from '../tool/outcome.ts'

/** Runs `call` on `tool`; never rejects. */
export function runTool(
  tool: AgentTool,
  call: ToolCall,
  options: RunToolOptions = {},
): Promise<ToolCallOutcome> {
  return parseAndRun({ tool, call, options, idempotencyKey: options.idempotencyKey ?? call.id })
}

/** Runs a call with its own idempotency key, so that all calls of a batch can share their options. */
export function parseAndRun({
  tool,
  call,
  options,
  idempotencyKey,
  onOutcome,
}: Omit<CallToRun, 'input' | 'parent'>): Promise<ToolCallOutcome> {
  const parsed = parseArguments(tool, call.arguments)
  if (parsed.ok) {
    return runCall({ tool, call, input: parsed.value, options, idempotencyKey, onOutcome })
  }
  const outcome: ToolCallOutcome = {
    result: parsed.failure,
    end: 'finished',
    durationMs: 0,
    waitedMs: 0,
  }
  countOutcome(tool, options, outcome)
  onOutcome?.(outcome)
  return Promise.resolve(outcome)
}

/** Runs a call whose arguments are already parsed; never rejects. */
export function runCall(toRun: CallToRun): Promise<ToolCallOutcome> {
  const limiters = findLimiters(toRun)
  return tryAcquireAll(limiters)
    ? runNow(toRun, { limiters, waitedMs: 0 })
    : queueAndRun(toRun, limiters)
}

/** Takes a slot of each limiter if all have a free one; otherwise takes none. */
function tryAcquireAll(limiters: readonly Limiter[]): boolean {
  for (const [taken, limiter] of limiters.entries()) {
    if (limiter.tryAcquire()) continue
    for (const other of limiters.slice(0, taken)) other.release()
    return false
  }
  return true
}

/** Waits for a slot of each limiter, runs the call and returns the slots. */
async function queueAndRun(
  toRun: CallToRun,
  limiters: readonly Limiter[],
): Promise<ToolCallOutcome> {
  const { clock = systemClock, signal } = toRun.options
  const askedAt = clock.elapsed()
  const resumeWhole = toRun.parent?.pause()
  const turns = await acquireAll(limiters, signal)
  resumeWhole?.()
  return runNow(toRun, { limiters: turns, waitedMs: roundMs(clock.elapsed() - askedAt) })
}

interface Turn {
  /** Limiters whose slots the call holds. */
  readonly limiters: readonly Limiter[]
  readonly waitedMs: number
}

/** Runs a call and returns its slots. */
function runNow(toRun: CallToRun, { limiters, waitedMs }: Turn): Promise<ToolCallOutcome> {
  const { tool, options } = toRun
  const { clock = systemClock } = options
  const startedAt = clock.elapsed()
  const running = new RunningCall(toRun)
  return new Promise((resolve) => {
    running.run(new CallContext(running, runCall), ({ result, end, error, edits }) => {
      const durationMs = roundMs(clock.elapsed() - startedAt)
      let outcome: ToolCallOutcome = { result, durationMs, waitedMs, end }
      if (error !== undefined) outcome = { ...outcome, error }
      if (edits !== undefined) outcome = { ...outcome, edits }
      countOutcome(tool, options, outcome)
      toRun.onOutcome?.(outcome)
      resolve(outcome)
      for (const limiter of limiters) limiter.release()
    })
  })
}

function roundMs(ms: number): number {
  return Math.max(0, Math.round(ms))
}

/** Returns the limiters that a call needs, in the same order for all calls, so that calls cannot deadlock. */
function findLimiters({ tool, options, parent }: CallToRun): readonly Limiter[] {
  const { limiter: shared } = options
  const own =
    tool.limiter === undefined || parent?.holds(tool.limiter) === true ? undefined : tool.limiter
  if (shared === undefined) return own === undefined ? NO_LIMITERS : [own]
  return own === undefined ? [shared] : [shared, own]
}

const NO_LIMITERS: readonly Limiter[] = []

/** Waits for a slot of each limiter; returns no limiters when the signal aborts first. */
async function acquireAll(
  limiters: readonly Limiter[],
  signal: AbortSignal | undefined,
): Promise<readonly Limiter[]> {
  const taken: Limiter[] = []
  try {
    for (const limiter of limiters) {
      if (!limiter.tryAcquire()) await limiter.acquire(signal)
      taken.push(limiter)
    }
    return taken
  } catch {
    for (const limiter of taken) limiter.release()
    return []
  }
}

const COUNTED: Readonly<Partial<Record<ToolCallEnd, CountedOutcome>>> = {
  threw: 'error',
  timed_out: 'error',
  abandoned: 'error',
}

function countOutcome(tool: AgentTool, options: RunToolOptions, outcome: ToolCallOutcome): void {
  const { metrics, agentRole = 'unknown' } = options
  if (metrics === undefined) return
  const { end, result, durationMs } = outcome
  const counted = end === 'finished' ? (result.success ? 'success' : 'failure') : COUNTED[end]
  if (counted === undefined) return
  callListener(options, 'metrics', () => {
    metrics.countCall({ toolName: tool.name, agentRole }, counted, durationMs)
  })
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: ToolResult }

/** Parses the arguments of a call, with exact integers. A text tool takes text that is not JSON as its input, unchanged. */
function parseArguments(tool: AgentTool, text: string): Parsed {
  if (text.trim() === '') return { ok: true, value: {} }
  try {
    const value = parseExactJson(text)
    return { ok: true, value: isNoArguments(tool, value) ? {} : value }
  } catch (error) {
    if (tool.kind === 'text') return { ok: true, value: text }
    const reason = errorMessage(error)
    const problem =
      error instanceof RangeError ? reason : `arguments are not valid JSON (${reason})`
    return {
      ok: false,
      failure: ToolResult.failure(`Invalid input for "${tool.name}": ${problem}`),
    }
  }
}

/**
 * Whether a value stands for a call without arguments. Models send `null`, `""` or `[]` where a tool has no required
 * fields; for a tool whose input is not an object they are values.
 */
function isNoArguments({ inputSchema }: AgentTool, value: unknown): boolean {
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  if (!isEmpty) return false
  const { type, required }: { readonly type?: unknown; readonly required?: unknown } = inputSchema
  const needsFields = Array.isArray(required) && required.length > 0
  return [type].flat().includes('object') && !needsFields
}
