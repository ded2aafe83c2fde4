/** Submits runs, forks and replays for the messages of a connection. */
import { traceContextOf } from '@tutti/core/internal'
import {
  forkRunAs,
  previewForkAs,
  replayRunAs,
  submitRunAs,
  type AddSubject,
  type MessageOf,
  type SubmissionOptions,
} from '@tutti/gateway/internal'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'

import { repeatId } from '../repeat-id.ts'
import { toForkBody } from '../runs/to-fork-body.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { MessageContext } from './message-context.ts'
import type { RunRecord } from '@tutti/runs/adapter'

/** Submits a run and returns its id. */
export async function submitRequest(
  message: MessageOf<'run_request'>,
  context: MessageContext,
): Promise<string> {
  const run = await submitRunAs(
    context.options,
    readBody(message),
    readSubmission(message, context),
  )
  return acknowledgeRun(run, message, context)
}

/** Submits a fork, or sends its preview. */
export async function submitFork(
  message: MessageOf<'run_fork'>,
  context: MessageContext,
  addSubject: AddSubject,
): Promise<void> {
  const { parentRunId, ...given } = readBody(message)
  const body = toForkBody(given, context.caller)
  const fork = { body, ...readSubmission(message, context) }
  if (given.preview === true) {
    const preview = await previewForkAs(context.options, parentRunId, fork)
    context.send({ type: 'fork_previewed', ...repeatId(message.requestId), preview })
    return
  }
  const run = await forkRunAs(context.options, parentRunId, fork)
  addSubject({ runId: await acknowledgeRun(run, message, context) })
}

/** Submits a replay and returns its id. */
export async function submitReplay(
  message: MessageOf<'run_replay'>,
  context: MessageContext,
): Promise<string> {
  const { parentRunId, ...body } = readBody(message)
  const submission = { body, ...readSubmission(message, context) }
  const run = await replayRunAs(context.options, parentRunId, submission)
  return acknowledgeRun(run, message, context)
}

type SubmissionMessage = MessageOf<'run_request' | 'run_fork' | 'run_replay'>

/** Returns what REST has in the body, and the id of the parent. */
function readBody<Message extends SubmissionMessage>({
  type: _type,
  requestId: _requestId,
  idempotencyKey: _key,
  traceContext: _,
  ...body
}: Message) {
  return body
}

/** Returns the caller of a submission, and what REST has in headers. */
function readSubmission(
  { idempotencyKey, traceContext }: SubmissionMessage,
  { caller }: MessageContext,
): SubmissionOptions {
  return {
    caller,
    ...traceContextOf(traceContext?.traceparent, traceContext?.tracestate),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

/** Acknowledges a submitted run, sends its result when it ends, and returns its id. */
async function acknowledgeRun(
  { runId, taskCount, workflow }: RunRecord,
  { requestId, idempotencyKey }: SubmissionMessage,
  context: MessageContext,
): Promise<string> {
  const disown = context.own(runId)
  context.send({
    type: 'run_ack',
    ...repeatId(requestId),
    runId,
    status: 'ACCEPTED',
    tasks: taskCount,
    workflow,
  })
  // With an idempotency key, the run may already have ended, so no further event will arrive.
  const result = idempotencyKey === undefined ? undefined : await readResult(context.options, runId)
  if (result !== undefined && disown()) context.send(result)
  return runId
}

/** Returns the last event of a run that has ended; undefined for an unfinished run. */
async function readResult(
  { runs }: Pick<ResolvedControlApiOptions, 'runs'>,
  runId: string,
): Promise<LoggedRunEvent | undefined> {
  const run = await runs.record(runId)
  if (run === undefined || !isTerminalRunStatus(run.status)) return undefined
  const [event] = await runs.readEvents({ runId, from: run.lastSeq, limit: 1 })
  return event
}
