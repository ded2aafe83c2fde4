/** Submits runs on behalf of callers. */
import { TuttiError } from '@tutti/core'
import type { ForkPreview, ReplayRunBody, SubmitRunBody } from '@tutti/protocol'
import { shortList, unknownName } from '@tutti/protocol/internal'

import { actorOf, type Caller } from '../caller.ts'
import { assertMayReadRun, assertMayReadThread } from './run-rights.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { ForkRequest, RunSubmission } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import type { RunWithEvents } from '@tutti/runs/internal'

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
 * @throws {TuttiError} as `RunService.submit`; INVALID_WEBHOOK; FORBIDDEN for a thread that the caller may not read.
 */
export async function submitRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks'>,
  body: SubmitRunBody,
  submission: SubmissionOptions,
): Promise<RunRecord> {
  if (body.threadId !== undefined)
    await assertMayReadThread(options.runs, body.threadId, submission.caller)
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
  if (body.threadId !== undefined)
    await assertMayReadThread(options.runs, body.threadId, submission.caller)
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
 * @throws {TuttiError} as `RunForks.create`; OVERLOADED; INVALID_WEBHOOK; FORBIDDEN for a parent that the caller may not read.
 */
export async function forkRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks' | 'reads'>,
  parentRunId: string,
  { body, ...submission }: ForkSubmission,
): Promise<RunRecord> {
  await assertMayReadRun(options.runs, parentRunId, submission.caller)
  const fork = buildSubmission(options, body, submission)
  return options.reads.run(() => options.runs.forks.create(parentRunId, fork))
}

/**
 * Returns what a fork would do, without creating it.
 *
 * @throws {TuttiError} as `RunForks.preview`; OVERLOADED; INVALID_WEBHOOK; FORBIDDEN for a parent that the caller may not read.
 */
export async function previewForkAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks' | 'reads'>,
  parentRunId: string,
  { body, ...submission }: ForkSubmission,
): Promise<ForkPreview> {
  await assertMayReadRun(options.runs, parentRunId, submission.caller)
  const fork = buildSubmission(options, body, submission)
  return options.reads.run(() => options.runs.forks.preview(parentRunId, fork))
}

/**
 * Submits a replay of a run; a repeated submission under the same idempotency key returns the existing replay.
 *
 * @throws {TuttiError} as `RunForks.replay`; OVERLOADED; INVALID_WEBHOOK; FORBIDDEN for a parent that the caller may not read.
 */
export async function replayRunAs(
  options: Pick<GatewayOptions, 'runs' | 'webhooks' | 'reads'>,
  parentRunId: string,
  {
    body,
    ...submission
  }: { readonly body: ReplayRunBody } & Pick<
    SubmissionOptions,
    'caller' | 'idempotencyKey' | 'traceparent' | 'tracestate'
  >,
): Promise<RunRecord> {
  await assertMayReadRun(options.runs, parentRunId, submission.caller)
  const replay = buildSubmission(options, body, submission)
  return options.reads.run(() => options.runs.forks.replay(parentRunId, replay))
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

/** Refuses webhooks that the server does not have. @throws {TuttiError} INVALID_WEBHOOK naming each. */
export function assertWebhooks(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  const [first, ...others] = unknown
  if (first === undefined) return
  const list = shortList(unknown.map((name) => `'${name}'`))
  throw new TuttiError(
    'INVALID_WEBHOOK',
    others.length === 0
      ? unknownName('webhook', first, known)
      : `Unknown webhook ${list}. Available: [${shortList(known)}]`,
  )
}
