/** Lists reviews and validates decisions, for routes and messages. */
import { limitText } from '@tutti/core/internal'
import {
  badRequest,
  type Caller,
  decisionScope,
  findRecord,
  mayDecide,
} from '@tutti/gateway/internal'
import { PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'

import { toPendingReview } from '../runs/to-wire.ts'

import type { ReviewDecisionBody } from '@tutti/protocol'
import type { ListReviewsQuery, ReviewList } from '@tutti/protocol/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Maximum length of an input value in the list, in characters. */
const MAX_INPUT_LENGTH = 200

/**
 * Returns the open reviews of one run or of all, in the order in which they opened, with ensemble, inputs and tags of
 * their runs: those of a kind, or those that people decide. Without secrets.
 *
 * @throws {TuttiError} RUN_NOT_FOUND for an unknown run; FORBIDDEN for one that the caller may not read.
 */
export async function listReviews(
  { runs, redactor }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  { runId, kind, caller }: ListReviewsQuery & { readonly caller: Caller },
): Promise<ReviewList> {
  if (runId !== undefined) await findRecord(runs, runId, caller)
  const which = {
    ...(runId === undefined ? {} : { runId }),
    kinds: kind === undefined ? PERSON_REVIEW_KINDS : [kind],
  }
  // Secrets are removed before inputs are shortened, because a part of a secret would not be recognized.
  const open = redactor.value(await runs.reviews.open(which))
  const total = await runs.reviews.countOpen(which)
  const reviews = open.map((review) => ({
    ...toPendingReview(review),
    ensemble: review.ensemble,
    inputs: shortenInputs(review.inputs),
    tags: { ...review.tags },
    mayDecide: mayDecide(caller, {
      scope: decisionScope(caller, review),
      role: review.request.requiredRole,
    }),
  }))
  // A review may be decided between the two reads.
  return { reviews, total: Math.max(total, reviews.length) }
}

function shortenInputs(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, limitText(value, MAX_INPUT_LENGTH)]),
  )
}

/**
 * Checks that a rejection has feedback, because the agent would otherwise repeat the same work.
 *
 * @throws {TuttiError} BAD_REQUEST.
 */
export function assertFeedback({ decision, feedback = '' }: ReviewDecisionBody): void {
  if (decision !== 'REJECT' || feedback.trim() !== '') return
  const message = 'is required with REJECT: describe what to change'
  throw badRequest('decision', [{ path: '/feedback', message }])
}
