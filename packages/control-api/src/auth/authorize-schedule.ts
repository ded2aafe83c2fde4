/** Decides whether the key that saved a schedule may still submit its runs. */
import { TuttiError, type Clock } from '@tutti/core'
import { assertMayReadThread, assertScope, assertWebhooks } from '@tutti/gateway/internal'

import { createCaller, type ApiKey } from './keys.ts'
import { RateLimits } from './rate-limits.ts'

import type { RunService } from '@tutti/runs'
import type { AuthorizeSchedule } from '@tutti/runs/internal'

/** Keys and webhooks of a server, as its control API gets them. */
export interface ScheduleRights {
  readonly apiKeys?: readonly ApiKey[]
  readonly webhooks?: Readonly<Record<string, unknown>>
  readonly clock: Clock
  /** Called when a schedule is saved or has a tick. */
  readonly runs: () => Pick<RunService, 'threads' | 'list'>
}

/**
 * Returns the function that checks a schedule like a submission by its key: the key must exist, must not have expired, and
 * must have the scope `runs:write`; its quota applies.
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
    assertWebhooks(run.webhooks ?? [], Object.keys(webhooks))
    // Without keys, every caller may do everything.
    if (keys.size === 0) return undefined
    const caller = createCaller(findKey(actor), { remoteAddress: undefined, clock, rates })
    if (clock.now() >= caller.expiresAt) throw forbidden(`Key "${actor}" has expired`)
    assertScope(caller, 'runs:write')
    if (run.threadId !== undefined) await assertMayReadThread(runs(), run.threadId, caller)
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
