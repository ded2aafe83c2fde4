/** Submits what a body or a message asks for. */
import { TuttiError } from '@tutti/core'
import { shortList, type SubmitRunBody } from '@tutti/protocol'

import { actorOf, type Caller } from '../caller.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { RunRecord, RunSubmission } from '@tutti/runs'

/** Who submits, under which key, and what else is kept with the run that a body cannot say. */
export interface SubmissionOptions extends Pick<
  RunSubmission,
  | 'idempotencyKey'
  | 'budget'
  | 'isAllowance'
  | 'memo'
  | 'origin'
  | 'cacheKey'
  | 'traceparent'
  | 'tracestate'
> {
  readonly caller: Caller
}

/**
 * Submits a run; the same one again under the same idempotency key is the run that it was.
 *
 * @throws {TuttiError} as `RunService.submit`, and INVALID_WEBHOOK.
 */
export function submitAs(
  { runs, webhooks }: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  body: SubmitRunBody,
  { caller, ...more }: SubmissionOptions,
): Promise<RunRecord> {
  assertWebhooks(body.webhooks ?? [], Object.keys(webhooks))
  const quota = caller.quota()
  return runs.submit({
    ...body,
    ...actorOf(caller),
    ...(quota === undefined ? {} : { quota }),
    ...more,
  })
}

function assertWebhooks(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new TuttiError(
    'INVALID_WEBHOOK',
    `Unknown webhook ${shortList(unknown.map((name) => `'${name}'`))}. Available: [${shortList(known)}]`,
  )
}
