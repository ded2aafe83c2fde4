/** Waits for the end of a run, which it may submit, then reads the run. */
import { ROUTES, routePath } from '@tutti/protocol'

import { TuttiClientError, UnfinishedRunError } from '../errors.ts'
import { runEvents, submittedRunEvents, type LoggedRunEventOf } from '../events/run-events.ts'
import { exchange } from '../http/exchange.ts'
import { decodeAnswer } from '../http/read-answer.ts'
import { decodeEndedRun, type RunEnd } from '../ended-run.ts'

import type { StreamedSubmission } from '../events/follow-run.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ResultOptions } from './runs-types.ts'

/**
 * Waits for a run to end and returns it with its outputs.
 *
 * @throws {UnfinishedRunError} when `throwOnFailure` is set and the run ended with FAILED or CANCELLED.
 * @throws {TuttiClientError} as a stream of its events.
 */
export async function waitForRunEnd(
  settings: ResolvedClientOptions,
  runId: string,
  options: ResultOptions = {},
): Promise<RunEnd> {
  // The result is the last event. With a position from the end the server does not read the others.
  const events = runEvents(settings, runId, { ...options, from: -1, events: ['run_result'] })
  return readEnd(settings, events, options)
}

/**
 * Submits a run, waits for it to end and returns it with its outputs.
 *
 * @throws {UnfinishedRunError} as `waitForRunEnd`.
 * @throws {TuttiClientError} as a submission, and as a stream of its events.
 */
export async function submitAndWait(
  settings: ResolvedClientOptions,
  submission: StreamedSubmission,
  options: ResultOptions,
): Promise<RunEnd> {
  const events = submittedRunEvents(settings, submission, { ...options, events: ['run_result'] })
  return readEnd(settings, events, options)
}

async function readEnd(
  settings: ResolvedClientOptions,
  events: AsyncIterable<LoggedRunEventOf<'run_result'>>,
  { throwOnFailure = false, signal }: ResultOptions,
): Promise<RunEnd> {
  const { runId, outputs, code } = await waitForResultEvent(events)
  const path = routePath('getRun', { runId })
  const answer = await exchange(settings, {
    method: ROUTES.getRun.method,
    path,
    signal,
  })
  const run = decodeAnswer(answer, decodeEndedRun)
  const end: RunEnd = { ...run, outputs, ...(code === undefined ? {} : { code }) }
  if (throwOnFailure && end.status !== 'COMPLETED') throw new UnfinishedRunError(end)
  return end
}

async function waitForResultEvent(
  events: AsyncIterable<LoggedRunEventOf<'run_result'>>,
): Promise<LoggedRunEventOf<'run_result'>> {
  for await (const event of events) return event
  throw new TuttiClientError('BAD_RESPONSE', 'The run ended without a result')
}
