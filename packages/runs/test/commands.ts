/** Sends commands with the defaults of most tests. */
import type { CancelMode, DirectiveInput, ReplyTo, ReviewVerdict } from '@tutti/protocol/internal'
import type { TierChoice } from '@tutti/ensemble/internal'
import type { RunService } from '../src/index.ts'

type Sender = Pick<RunService, 'send'>

/** Cancels a run and resolves with its status. */
export async function cancel(
  service: Sender,
  runId: string,
  how: { readonly mode?: CancelMode } = {},
): Promise<ReplyTo<'cancel'>['status']> {
  const { status } = await service.send(runId, { kind: 'cancel', ...how })
  return status
}

export function switchModel(
  service: Sender,
  runId: string,
  model: string | TierChoice,
  how: { readonly taskName?: string } = {},
): Promise<ReplyTo<'switch_model'>> {
  return service.send(runId, { kind: 'switch_model', model, ...how })
}

export function inject(
  service: Sender,
  runId: string,
  input: DirectiveInput | string,
): Promise<ReplyTo<'inject'>> {
  const directive = typeof input === 'string' ? { content: input } : input
  return service.send(runId, { kind: 'inject', directive })
}

export async function decide(
  service: Sender & Pick<RunService, 'reviews'>,
  reviewId: string,
  decision: ReviewVerdict,
): Promise<void> {
  const review = await service.reviews.get(reviewId)
  await service.send(review?.runId ?? '', { kind: 'decide', reviewId, decision })
}
