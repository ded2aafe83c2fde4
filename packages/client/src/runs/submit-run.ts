/** Submits runs. */
import { decode, ROUTES, routePath, type RunAccepted, type SubmitRunBody } from '@tutti/protocol'

import { exchange } from '../http/exchange.ts'
import { decodeAnswer } from '../http/read-answer.ts'
import { decodeEndedRun, type EndedRun } from '../ended-run.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { SubmitOptions, SubmitRun } from './runs-types.ts'

/** Status of a response that contains the ended run instead of the acceptance. */
const ENDED = 200

/** Returns the function that submits runs. */
export function submitRun(settings: ResolvedClientOptions): SubmitRun {
  const submit = async (
    body: SubmitRunBody,
    { idempotencyKey, wait, ...options }: SubmitOptions = {},
  ): Promise<RunAccepted | EndedRun> => {
    const { method, response } = ROUTES.submitRun
    const answer = await exchange(settings, {
      ...options,
      method,
      path: routePath('submitRun'),
      query: { wait },
      body,
      isSafe: idempotencyKey !== undefined,
      serverTimeMs: (wait ?? 0) * 1_000,
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    })
    if (answer.status === ENDED) return decodeAnswer(answer, decodeEndedRun)
    return decodeAnswer(answer, (value) => decode(response, value))
  }
  // NOTE: without `wait` the server always returns the acceptance, which the types cannot express.
  return submit as SubmitRun
}
