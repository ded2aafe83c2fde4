/**
 * One call of a tool that asks an agent: tries, until one is answered or another cannot help.
 *
 * C1 A try that failed for a reason that may pass is made again `retries` times, after a growing wait, or after
 *    the one that the agent asks for; each try has events of its own.
 * C2 Limits on cost and tokens count all tries together.
 * C3 A failure is a result that the model reads, with what arrived; a cancel is thrown, and so is what a
 *    reviewer decided about the run.
 */
import { ToolResult, limitText, sleep } from '@tutti/core'
import { AgentTry, type TryEnd } from './agent-try.ts'

import { textOf } from './text-of.ts'

import type { FailedTry } from './failed-try.ts'
import type { Spent } from './try-budget.ts'
import type { AgentToolContext, ResolvedAgentSettings } from './define-agent-tool.ts'

/** Longest wait before a retry, in milliseconds, whatever the agent asks for. */
const MAX_RETRY_DELAY_MS = 60_000

/** Characters of what had arrived that the model is told with a failure. */
const SHOWN_PARTIAL_LENGTH = 4_000

/**
 * Asks the agent; gives its answer, or what went wrong.
 *
 * @throws what the call was cancelled with; {TuttiError} EXIT_EARLY, TOOL_REJECTED of a reviewer.
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
    if (end.kind === 'answered') return resultOf(settings, end)
    context.signal.throwIfAborted()
    if (!end.retryable || retryIndex >= settings.retries) return failureOf(settings, end)
    await sleep(context.clock, delayMs(settings, end, retryIndex), context.signal)
  }
}

function delayMs(
  { retryDelayMs }: ResolvedAgentSettings,
  { retryAfterMs }: FailedTry,
  retryIndex: number,
): number {
  // Up to a quarter is left to chance, so that many callers do not come back at once.
  const growing = retryDelayMs * 2 ** retryIndex * (1 - Math.random() / 4)
  return Math.min(MAX_RETRY_DELAY_MS, retryAfterMs ?? growing)
}

function resultOf(
  { wantsValue }: ResolvedAgentSettings,
  { answer: { output, text } }: Extract<TryEnd, { kind: 'answered' }>,
): ToolResult {
  const value = wantsValue && typeof output === 'string' ? valueOf(output) : output
  return ToolResult.success(text, value)
}

/** The value that a text is the JSON of, else the text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function failureOf({ name }: ResolvedAgentSettings, end: FailedTry): ToolResult {
  const { message, failure, retryable, partial, chunksReceived, costUsd } = end
  const isNothing = partial === null || (Array.isArray(partial) && partial.length === 0)
  const arrived = isNothing
    ? ''
    : `\nWhat had arrived: ${limitText(textOf(partial), SHOWN_PARTIAL_LENGTH)}`
  const result = ToolResult.failure(`Agent "${name}" gave no answer: ${message}${arrived}`)
  return Object.assign(result, {
    structured: { failure, message, retryable, partial, chunksReceived, costUsd },
  })
}
