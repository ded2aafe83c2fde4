/** Submits runs on behalf of callers. */
import { TuttiError } from '@tutti/core'
import { shortList, type SubmitRunBody } from '@tutti/protocol'

import { actorOf, type Caller } from '../caller.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { RunRecord, RunSubmission } from '@tutti/runs'

/** Caller of a submission, and fields of the run that are not part of a request body. */
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
 * Submits a run; a repeated submission under the same idempotency key returns the existing run.
 *
 * @throws {TuttiError} as `RunService.submit`, and INVALID_WEBHOOK.
 */
export function submitRunAs(
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
