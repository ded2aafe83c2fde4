/** One review, to be decided in place. */
import { lazy, memo, Suspense, useId, useState } from 'react'

import { cx } from '../../lib/cx.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Loading } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Countdown } from '../../ui/show/time.tsx'
import { useDecidedHere, useDraft, type DraftMode } from './drafts.ts'
import { ExitForm } from './exit-form.tsx'
import { RejectForm } from './reject-form.tsx'
import { ReviewActions } from './review-actions.tsx'
import { ReviewClosed } from './review-closed.tsx'
import { ReviewFailure } from './review-failure.tsx'
import { ReviewSubject } from './review-subject.tsx'
import { reviewTitle, TIMING } from './review-words.ts'
import { useDecision, type Deciding } from './use-decision.ts'
import styles from './review-panel.module.css'

import type { ReviewLike } from './review-like.ts'

/** The editor comes with the comparison of texts, which most readers never need. */
const EditForm = lazy(() => import('./edit-form.tsx').then((form) => ({ default: form.EditForm })))

/** A review that waits, or how it was closed, until that is dismissed. */
export const ReviewPanel = memo(function ReviewPanel({
  review,
  onDismiss,
  isFolded = false,
  onFold,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewId: string) => void
  /** Whether the heading alone is shown. @default false */
  readonly isFolded?: boolean
  /** Where several panels are shown; without it a panel cannot be folded. */
  readonly onFold?: ((reviewId: string, isFolded: boolean) => void) | undefined
}) {
  const deciding = useDecision(review)
  const by = useDecidedHere().get(review.reviewId) ?? 'other'
  const id = useId()
  if (review.end !== undefined || deciding.isTooLate) {
    return <ReviewClosed review={review} isKnownOther={by === 'other'} onDismiss={onDismiss} />
  }
  const { detail } = review
  const facts = [
    ...(detail === undefined ? [] : [detail.agentRole]),
    TIMING[review.timing],
    ...(detail === undefined || detail.attempt < 2 ? [] : [`attempt ${detail.attempt}`]),
  ]
  return (
    <div
      role="region"
      aria-labelledby={id}
      className={cx(styles['review'], isFolded && styles['folded'])}
    >
      <Panel
        tone="held"
        title={
          <span className={styles['title']}>
            <Mark kind="held" />
            <span>
              <span id={id}>{reviewTitle(review)}</span>{' '}
              <span className={styles['facts']}>{facts.join(' · ')}</span>
            </span>
          </span>
        }
        actions={
          <>
            <span className={styles['left']}>
              {review.expiresAt === undefined ? (
                'no time limit'
              ) : (
                <Countdown until={review.expiresAt} />
              )}
            </span>
            {onFold !== undefined && (
              <Button
                size="s"
                kind="quiet"
                aria-expanded={!isFolded}
                aria-describedby={id}
                onClick={() => onFold(review.reviewId, !isFolded)}
              >
                {isFolded ? 'Show' : 'Hide'}
              </Button>
            )}
          </>
        }
        flush={isFolded}
      >
        {!isFolded && (
          <div className={styles['body']}>
            {review.prompt !== undefined && <p className={styles['prompt']}>{review.prompt}</p>}
            {/* Buttons that move while somebody presses them lose the click, or give it to another. */}
            <Suspense fallback={<Loading label="Loading what is under review" />}>
              <Decision review={review} deciding={deciding} />
            </Suspense>
          </div>
        )}
      </Panel>
    </div>
  )
})

/** What is looked at, and what can be decided about it. */
function Decision({
  review,
  deciding,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
}) {
  const [draft, change] = useDraft(review.reviewId)
  /** Forms that were opened here take the focus, and give it back; those that are there already do not. */
  const [turned, setTurned] = useState<DraftMode>()
  const open = (mode: DraftMode): void => {
    setTurned(mode)
    change({ mode })
  }
  const form = {
    review,
    draft,
    change,
    deciding,
    takesFocus: turned !== undefined,
    onBack: () => change({ mode: undefined }),
  }
  return (
    <>
      {draft.mode !== 'EDIT' && <ReviewSubject review={review} />}
      {deciding.error !== undefined && <ReviewFailure error={deciding.error} />}
      {draft.mode === undefined && (
        <ReviewActions review={review} deciding={deciding} focusOn={turned} onOpen={open} />
      )}
      {draft.mode === 'EDIT' && (
        <Suspense fallback={<Loading label="Loading the editor" />}>
          <EditForm {...form} />
        </Suspense>
      )}
      {draft.mode === 'REJECT' && <RejectForm {...form} />}
      {draft.mode === 'EXIT_EARLY' && <ExitForm {...form} />}
    </>
  )
}
