/**
 * One call of a tool that calls an agent: repeats tries until one is answered or a retry cannot help.
 *
 * CALL-C1 A try with a temporary failure is repeated up to `retries` times, after a growing delay or after the delay
 * that the agent requests. Each try has its own events.
 * CALL-C2 Limits on cost and tokens count all tries together.
 * CALL-C3 A failure becomes a result that the model reads, with the output that arrived. A cancel is thrown, and so is
 *    a decision of a reviewer about the run.
 */
import { ToolResult } from '@tutti/core'
import { backoffMs, limitText, parseExactJson, sleep, toPlainJson } from '@tutti/core/internal'
import { AgentTry, type TryEnd } from './agent-try.ts'

import { toJsonText } from './json-text.ts'

import type { FailedTry } from './failed-try.ts'
import type { Spent } from './try-usage.ts'
import type { AgentToolContext, ResolvedAgentSettings } from './agent-tool-settings.ts'

/** Maximum delay before a retry in milliseconds, even if the agent asks for more. */
const MAX_RETRY_DELAY_MS = 60_000

/** Maximum characters of partial output that a failure shows to the model. */
const SHOWN_PARTIAL_LENGTH = 4_000

/**
 * Calls the agent; returns its answer or its failure.
 *
 * @throws the abort reason when the call was cancelled; {TuttiError} EXIT_EARLY or TOOL_REJECTED of a reviewer.
 */
export async function callAgent(
  settings: ResolvedAgentSettings,
  input: unknown,
  context: AgentToolContext,
): Promise<ToolResult> {
  const spent: Spent = { costUsd: 0, tokens: 0 }
  for (let retryIndex = 0; ; retryIndex += 1) {
    context.signal.throwIfAborted()
    const end = await new AgentTry(settings, { input, context, retryIndex, spent }).run()
    if (end.kind === 'answered') return toResult(settings, end)
    context.signal.throwIfAborted()
    if (!end.retryable || retryIndex >= settings.retries) return toFailure(settings, end)
    await sleep(context.clock, delayMs(settings, end, retryIndex), context.signal)
  }
}

function delayMs(
  { retryDelayMs }: ResolvedAgentSettings,
  { retryAfterMs }: FailedTry,
  retryIndex: number,
): number {
  const limits = { firstMs: retryDelayMs, maxMs: MAX_RETRY_DELAY_MS, jitter: 0.25 }
  return Math.min(MAX_RETRY_DELAY_MS, retryAfterMs ?? backoffMs(retryIndex, limits))
}

function toResult(
  { wantsValue }: ResolvedAgentSettings,
  { answer: { output, text } }: Extract<TryEnd, { kind: 'answered' }>,
): ToolResult {
  const value = wantsValue && typeof output === 'string' ? parseIfJson(output) : output
  return ToolResult.success(text, value)
}

/** Parses a text as JSON; returns the text when it is not JSON. */
function parseIfJson(text: string): unknown {
  try {
    return toPlainJson(parseExactJson(text))
  } catch {
    return text
  }
}

function toFailure({ name }: ResolvedAgentSettings, end: FailedTry): ToolResult {
  const { message, failure, retryable, partial, chunksReceived, costUsd } = end
  const isNothing = partial === null || (Array.isArray(partial) && partial.length === 0)
  const arrived = isNothing
    ? ''
    : `\nPartial output: ${limitText(toJsonText(partial), SHOWN_PARTIAL_LENGTH)}`
  const result = ToolResult.failure(`Agent "${name}" did not answer: ${message}${arrived}`)
  return Object.assign(result, {
    structured: { failure, message, retryable, partial, chunksReceived, costUsd },
  })
}
