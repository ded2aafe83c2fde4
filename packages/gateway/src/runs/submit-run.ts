/** Submits runs on behalf of callers. */
import { TuttiError } from '@tutti/core'
import {
  shortList,
  type ForkPreview,
  type ReplayRunBody,
  type SubmitRunBody,
} from '@tutti/protocol'

import { actorOf, assertScope, hasScope, type Caller } from '../caller.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { ForkRequest, RunWithEvents, RunRecord, RunSubmission } from '@tutti/runs'

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
 * @throws {TuttiError} as `RunService.submit`; INVALID_WEBHOOK; FORBIDDEN for the thread of another key.
 */
export async function submitRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  body: SubmitRunBody,
  submission: SubmissionOptions,
): Promise<RunRecord> {
  await assertMayContinue(options, body, submission.caller)
  return options.runs.submit(buildSubmission(options, body, submission))
}

/**
 * Submits a run and follows it.
 *
 * @throws {TuttiError} as `submitRunAs`.
 */
export async function submitAndFollowAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  body: SubmitRunBody,
  submission: SubmissionOptions,
): Promise<RunWithEvents> {
  await assertMayContinue(options, body, submission.caller)
  return options.runs.submitAndFollow(buildSubmission(options, body, submission))
}

/** The request for a fork, without its caller. */
export type ForkContent = Omit<
  ForkRequest,
  'actor' | 'quota' | 'idempotencyKey' | 'traceparent' | 'tracestate'
>

/** The request for a fork, its caller, and fields of the fork that are not part of a request body. */
export type ForkSubmission = { readonly body: ForkContent } & Pick<
  SubmissionOptions,
  'caller' | 'idempotencyKey' | 'traceparent' | 'tracestate'
>

/**
 * Submits a fork of a run; a repeated submission under the same idempotency key returns the existing fork.
 *
 * @throws {TuttiError} as `RunService.fork`, and INVALID_WEBHOOK.
 */
export function forkRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  parentRunId: string,
  { body, ...submission }: ForkSubmission,
): Promise<RunRecord> {
  return options.runs.fork(parentRunId, buildSubmission(options, body, submission))
}

/**
 * Returns what a fork would do, without creating it.
 *
 * @throws {TuttiError} as `RunService.previewFork`, and INVALID_WEBHOOK.
 */
export function previewForkAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  parentRunId: string,
  { body, ...submission }: ForkSubmission,
): Promise<ForkPreview> {
  return options.runs.previewFork(parentRunId, buildSubmission(options, body, submission))
}

/**
 * Submits a replay of a run; a repeated submission under the same idempotency key returns the existing replay.
 *
 * @throws {TuttiError} as `RunService.replay`, and INVALID_WEBHOOK.
 */
export function replayRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  parentRunId: string,
  {
    body,
    ...submission
  }: { readonly body: ReplayRunBody } & Pick<
    SubmissionOptions,
    'caller' | 'idempotencyKey' | 'traceparent' | 'tracestate'
  >,
): Promise<RunRecord> {
  return options.runs.replay(parentRunId, buildSubmission(options, body, submission))
}

/** Refuses the thread of another key to a caller that may not read it: the agents of its runs know the messages. */
async function assertMayContinue(
  { runs }: Pick<GatewayOptions, 'runs'>,
  { threadId }: Pick<SubmitRunBody, 'threadId'>,
  caller: Caller,
): Promise<void> {
  if (threadId === undefined || hasScope(caller, 'runs:read')) return
  const thread = await runs.threads.get(threadId)
  if (thread !== undefined && thread.actor !== caller.name) assertScope(caller, 'runs:read')
}

/** Adds the caller and its quota to the body of a request. */
function buildSubmission<B extends Pick<RunSubmission, 'webhooks'>, M extends object>(
  { webhooks }: Pick<GatewayOptions, 'webhooks'>,
  body: B,
  { caller, ...more }: M & Pick<SubmissionOptions, 'caller'>,
) {
  assertWebhooks(body.webhooks ?? [], Object.keys(webhooks))
  const quota = caller.quota()
  return {
    ...body,
    ...actorOf(caller),
    ...(quota === undefined ? {} : { quota }),
    ...more,
  }
}

function assertWebhooks(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new TuttiError(
    'INVALID_WEBHOOK',
    `Unknown webhook ${shortList(unknown.map((name) => `'${name}'`))}. Available: [${shortList(known)}]`,
  )
}
