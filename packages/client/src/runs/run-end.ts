/** Waits for the end of a run, then reads the run. */
import { ROUTES, routePath } from '@tutti/protocol'

import { TuttiClientError, UnfinishedRunError } from '../errors.ts'
import { runEvents, type LoggedRunEventOf } from '../events/run-events.ts'
import { exchange } from '../http/exchange.ts'
import { decodeAnswer } from '../http/read-answer.ts'
import { decodeEndedRun, type RunEnd } from './ended-run.ts'

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
  { throwOnFailure = false, ...options }: ResultOptions = {},
): Promise<RunEnd> {
  const { outputs, code } = await waitForResultEvent(settings, runId, options)
  const path = routePath('getRun', { runId })
  const answer = await exchange(settings, {
    method: ROUTES.getRun.method,
    path,
    signal: options.signal,
  })
  const run = decodeAnswer(answer, decodeEndedRun)
  const end: RunEnd = { ...run, outputs, ...(code === undefined ? {} : { code }) }
  if (throwOnFailure && end.status !== 'COMPLETED') throw new UnfinishedRunError(end)
  return end
}

/** Waits for the `run_result` event of a run. */
async function waitForResultEvent(
  settings: ResolvedClientOptions,
  runId: string,
  options: Omit<ResultOptions, 'throwOnFailure'>,
): Promise<LoggedRunEventOf<'run_result'>> {
  // The result is the last event. With a position from the end the server does not read the others.
  const last = runEvents(settings, runId, { ...options, from: -1, events: ['run_result'] })
  for await (const event of last) return event
  throw new TuttiClientError('BAD_RESPONSE', `Run "${runId}" ended without a result`)
}
