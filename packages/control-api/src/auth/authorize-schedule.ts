/** Decides whether a caller may save a schedule, and whether its key may still submit the runs. */
import { TuttiError, type Clock } from '@tutti/core'
import {
  anyone,
  assertMayReadThread,
  assertScope,
  assertWebhooks,
  type Caller,
} from '@tutti/gateway/internal'
import { assertPriority, type AuthorizeSchedule } from '@tutti/runs/internal'

import { createCaller, type ApiKey } from './keys.ts'
import { RateLimits } from './rate-limits.ts'

import type { RunService, ScheduledSubmission } from '@tutti/runs'

/** Keys and webhooks of a server, as its control API gets them. */
export interface ScheduleRights {
  readonly apiKeys?: readonly ApiKey[]
  readonly webhooks?: Readonly<Record<string, unknown>>
  readonly clock: Clock
  /** Called when a schedule has a tick. */
  readonly runs: () => Pick<RunService, 'threads' | 'list'>
}

/** The parts of a server that the runs of schedules use. */
interface ScheduleTargets {
  readonly runs: Pick<RunService, 'threads' | 'list'>
  readonly webhooks: Readonly<Record<string, unknown>>
}

/**
 * Refuses a caller that may not submit the runs of a schedule, when it saves the schedule and at each tick.
 *
 * @throws {TuttiError} FORBIDDEN without `runs:write`, above the highest priority of the key, and for a thread that the caller
 * may not read; INVALID_WEBHOOK.
 */
export async function assertMaySchedule(
  { runs, webhooks }: ScheduleTargets,
  run: Pick<ScheduledSubmission, 'threadId' | 'webhooks' | 'priority'>,
  caller: Caller,
): Promise<void> {
  assertScope(caller, 'runs:write')
  const quota = caller.quota()
  if (quota !== undefined) assertPriority(run.priority, quota)
  assertWebhooks(run.webhooks ?? [], Object.keys(webhooks))
  if (run.threadId !== undefined) await assertMayReadThread(runs, run.threadId, caller)
}

/**
 * Returns the function that checks the tick of a schedule like a submission by its key: the key must exist and must not have
 * expired, and its quota applies. Without keys, every caller may do everything.
 */
export function scheduleAuthorizer({
  apiKeys = [],
  webhooks = {},
  clock,
  runs,
}: ScheduleRights): AuthorizeSchedule {
  const keys = new Map(apiKeys.map((key) => [key.name, key]))
  const rates = new RateLimits(clock)
  return async (actor, run) => {
    const caller =
      keys.size === 0
        ? anyone()
        : createCaller(findKey(actor), { remoteAddress: undefined, clock, rates })
    if (clock.now() >= caller.expiresAt) throw forbidden(`Key "${actor}" has expired`)
    await assertMaySchedule({ runs: runs(), webhooks }, run, caller)
    return caller.quota()
  }

  function findKey(actor: string | undefined): ApiKey {
    const key = actor === undefined ? undefined : keys.get(actor)
    if (key !== undefined) return key
    throw forbidden(
      actor === undefined
        ? 'The schedule was saved without a key, and the server has keys. Save it again with a key'
        : `Key "${actor}", which saved the schedule, no longer exists. Save it again with another key`,
    )
  }
}

function forbidden(message: string): TuttiError {
  return new TuttiError('FORBIDDEN', message)
}
