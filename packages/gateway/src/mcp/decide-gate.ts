/** Decides a review as a form says that a person filled in at an MCP client. */
import { TuttiError } from '@tutti/core'

import { audited } from '../http/audited.ts'
import { assertScope, type Caller } from '../caller.ts'
import { wireErrorOf } from '../http/on-error.ts'
import { decideReview } from '../runs/decide-review.ts'
import { gateAnswer } from './gate-form.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { ReviewRecord } from '@tutti/runs'

/** On whose behalf, and where. */
export interface GateDesk {
  readonly options: Pick<
    GatewayOptions,
    'runs' | 'trail' | 'clock' | 'logger' | 'redactor' | 'metrics'
  >
  readonly caller: Caller
}

/** What a decision is answered with when the review is closed already. */
const CLOSED: readonly string[] = ['REVIEW_RESOLVED', 'REVIEW_NOT_FOUND', 'RUN_COMPLETED']

/**
 * Undefined when the review is decided, by this answer or by another before it; else why it could not be: the
 * review is open then, and the person can be asked again.
 */
export async function decideGate(
  { options, caller }: GateDesk,
  { runId, reviewId }: Pick<ReviewRecord, 'runId' | 'reviewId'>,
  content: unknown,
): Promise<string | undefined> {
  const { runs, trail, clock } = options
  const answer = gateAnswer(content)
  if (!answer.ok) return answer.problem
  const asked = { caller, action: 'decideReview', via: 'http', runId, target: reviewId } as const
  try {
    await audited(asked, { trail, now: clock.now() }, () => {
      assertScope(caller, 'reviews:decide')
      return decideReview(runs, reviewId, { ...answer.decision, caller })
    })
    return undefined
  } catch (error) {
    if (TuttiError.isInstance(error) && CLOSED.includes(error.code)) return undefined
    return wireErrorOf(error, options).body.message
  }
}
