/**
 * Keeps a run within what a caller can still spend on it, by cancelling it. What the caller who made the run could
 * spend is the budget of the run, and not kept here; its deadline is, and the limits of those who come back.
 *
 * The process that was asked does it as long as it lives: a run that another one goes on with is no longer
 * held to these limits, and whoever set them has to cancel it.
 */
import { sleep, TuttiError } from '@tutti/core'

import { cancelUnlessOver } from '../runs/cancel-run.ts'
import { cancelAtDeadline } from '../peer/cancel-at-deadline.ts'
import { eventUsage } from '../peer/event-usage.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { CallerLimits } from './message-schema.ts'
import type { Used } from './task-account.ts'
import type { RunRecord } from '@tutti/runs'

/** The limits as they hold for one run. */
export interface RunLimits {
  readonly maxCostUsd: number
  readonly maxTokens: number
  /** In milliseconds since 1970. */
  readonly deadlineAt: number
}

/** The limits; none is Infinity. */
export function runLimits(
  { max_cost_usd, max_tokens, deadline_ms }: CallerLimits,
  now: number,
): RunLimits {
  return {
    maxCostUsd: max_cost_usd ?? Infinity,
    maxTokens: max_tokens ?? Infinity,
    deadlineAt: now + (deadline_ms ?? Infinity),
  }
}

/** Which limit is over, in words; undefined when none is. To reach a limit is not to be over it. */
export function limitOver(
  { maxCostUsd, maxTokens, deadlineAt }: RunLimits,
  { costUsd = 0, tokens }: Used,
  now: number,
): string | undefined {
  if (costUsd > maxCostUsd) {
    return `The run was cancelled: it has cost ${costUsd} US dollars, and max_cost_usd was ${maxCostUsd}`
  }
  if (tokens > maxTokens) {
    return `The run was cancelled: it has used ${tokens} tokens, and max_tokens was ${maxTokens}`
  }
  if (now >= deadlineAt) return 'The run was cancelled: its deadline passed before it was done'
  return undefined
}

/** Holds a run to limits until it has ended. Never rejects: nobody waits for it. */
export async function holdToLimits(
  run: RunRecord,
  limits: RunLimits,
  asker: LimitsAsker,
): Promise<void> {
  const { deadlineAt, maxCostUsd, maxTokens } = limits
  if (deadlineAt !== Infinity) void cancelAtDeadline({ run, deadlineAt }, asker)
  if (maxCostUsd === Infinity && maxTokens === Infinity) return
  const { runs, clock, logger } = asker.options
  const { runId } = run
  for (;;) {
    try {
      await cancelWhenOver(run, limits, asker)
      return
    } catch (error) {
      const canRetry = TuttiError.isInstance(error) && error.retryable && runs.state !== 'DRAINING'
      logger.warn('A run could not be held to the limits of its caller', { runId, canRetry, error })
      if (!canRetry) return
      await sleep(clock, RETRY_MS)
    }
  }
}

interface LimitsAsker {
  readonly options: GatewayOptions
  readonly caller: Caller
}

/** When a run whose events could not be read is looked at again, in milliseconds. */
const RETRY_MS = 1_000

async function cancelWhenOver(
  { runId }: RunRecord,
  { maxCostUsd, maxTokens }: RunLimits,
  { options: { runs, clock }, caller }: LimitsAsker,
): Promise<void> {
  const limits = { maxCostUsd, maxTokens, deadlineAt: Infinity }
  let used: Required<Used> = { costUsd: 0, tokens: 0 }
  for await (const events of runs.follow({ runId, from: 0 })) {
    for (const event of events) {
      const { costUsd = 0, tokens = 0 } = eventUsage(event) ?? {}
      used = { costUsd: used.costUsd + costUsd, tokens: used.tokens + tokens }
    }
    if (limitOver(limits, used, clock.now()) === undefined) continue
    await cancelUnlessOver(runs, runId, { mode: 'abort', caller })
    return
  }
}
