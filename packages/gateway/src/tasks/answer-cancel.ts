/** Answers `tasks/cancel`: when the run has stopped, or soon. */
import { decode } from '@tutti/protocol'

import { cancelRun } from '../runs/cancel-run.ts'
import { findRecord, runNotFound } from '../runs/find-run.ts'
import { badRequest } from '../http/api-error.ts'
import { waitForEnd } from '../runs/wait-for-end.ts'
import { answer } from './answer.ts'
import { CANCEL_WAIT_MS } from './limits.ts'
import { CancelParams } from './message-schema.ts'
import { taskOf } from './open-task.ts'
import { readParams } from './read-envelope.ts'
import { taskStatus } from './task-status.ts'

import type { WireCall } from './answer-send.ts'

/**
 * The answer: the status that the task has then, which is `working` for one that still stops.
 *
 * @throws {TuttiError} BAD_REQUEST, RUN_NOT_FOUND, RUN_COMPLETED for a task that is over.
 */
export async function answerCancel({
  body,
  envelope,
  sender,
  signal,
}: WireCall): Promise<Response> {
  const { options, caller, tell } = sender
  const { id } = cancelParams(body)
  tell({ runId: id })
  const run = await taskOf(id, sender)
  if (run === undefined) throw runNotFound(id)
  await cancelRun(options.runs, id, { mode: 'abort', caller })
  await waitForEnd(options, run, { timeoutMs: CANCEL_WAIT_MS, signal })
  const { status } = await findRecord(options.runs, id)
  return answer(envelope, { id, status: taskStatus(status) })
}

/** JamJet sends nothing but the id; others an envelope. */
function cancelParams(body: WireCall['body']): CancelParams {
  const isBare = !['jsonrpc', 'method', 'params'].some((field) => Object.hasOwn(body, field))
  if (!isBare) return readParams(body, 'tasks/cancel', CancelParams)
  const decoded = decode(CancelParams, body)
  if (decoded.ok) return decoded.value
  throw badRequest('Request body', decoded.problems)
}
