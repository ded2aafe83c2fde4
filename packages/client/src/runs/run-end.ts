/** Waits for the end of a run by its events, then looks at what came of it. */
import { ROUTES, routePath } from '@tutti/protocol'

import { TuttiClientError, UnfinishedRunError } from '../errors.ts'
import { runEvents, type LoggedRunEventOf } from '../events/run-events.ts'
import { exchange } from '../http/exchange.ts'
import { decodeAnswer } from '../http/read-answer.ts'
import { decodeEndedRun, type RunEnd } from './ended-run.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { ResultOptions } from './runs-types.ts'

/**
 * How a run ended, as soon as it has.
 *
 * @throws {UnfinishedRunError} when that is asked for and it FAILED or was CANCELLED.
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

/** The `run_result` event of a run, as soon as there is one. */
async function waitForResultEvent(
  settings: ResolvedClientOptions,
  runId: string,
  options: Omit<ResultOptions, 'throwOnFailure'>,
): Promise<LoggedRunEventOf<'run_result'>> {
  // The result is the last event. Counted from the end, the server need not go through the others.
  const last = runEvents(settings, runId, { ...options, from: -1, events: ['run_result'] })
  for await (const event of last) return event
  throw new TuttiClientError('BAD_RESPONSE', `Run "${runId}" ended without a result`)
}
