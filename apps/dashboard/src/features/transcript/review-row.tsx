/** Shows a review within the transcript: its state, decision and reviewer. */
import { cx } from '../../lib/cx.ts'
import { lazy, memo, Suspense } from 'react'

import { labelReview, REVIEW_TITLES } from '../../ui/labels.ts'
import { formatClock } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Countdown } from '../../ui/show/time.tsx'
import styles from './transcript.module.css'

import type { ReviewState } from '@tutti/protocol/internal'

/** Loaded when first needed. */
const DiffView = lazy(() =>
  import('../../ui/show/diff-view.tsx').then((part) => ({ default: part.DiffView })),
)

/** A review; it is decided elsewhere on the page. */
export const ReviewRow = memo(function ReviewRow({ review }: { readonly review: ReviewState }) {
  const { kind, toolName, prompt, feedback, revisedOutput, requestedAt } = review
  const { mark, word } = labelReview(review)
  const text = kind === 'EVENT' ? formatAwaited(review) : prompt
  return (
    <article
      aria-label={REVIEW_TITLES[kind]}
      className={styles['review']}
      data-open={mark === 'held'}
    >
      <header className={cx(styles['line'], styles['wrapping'])}>
        <Mark kind={mark} />
        <h3>{REVIEW_TITLES[kind]}</h3>
        {toolName !== undefined && kind !== 'EVENT' && <code>{toolName}</code>}
        <span className={styles['outcome']}>{word}</span>
        {review.status === 'OPEN' && review.timeoutMs > 0 && (
          <Countdown until={new Date(Date.parse(requestedAt) + review.timeoutMs).toISOString()} />
        )}
        <span className={styles['figure']}>
          {formatClock(Date.parse(review.decidedAt ?? requestedAt))}
        </span>
      </header>
      {typeof text === 'string' && text !== '' && <p className={styles['quote']}>{text}</p>}
      {feedback !== undefined && <blockquote className={styles['quote']}>{feedback}</blockquote>}
      {revisedOutput !== undefined && kind === 'QUESTION' && (
        <blockquote className={styles['quote']}>{revisedOutput}</blockquote>
      )}
      {revisedOutput !== undefined && kind !== 'QUESTION' && (
        <Fold name={`review-${review.reviewId}`} summary="Changes">
          {() => (
            <Suspense>
              <DiffView before={formatReviewSubject(review)} after={revisedOutput} />
            </Suspense>
          )}
        </Fold>
      )}
    </article>
  )
})

/** Returns the events that a wait is for; empty for a sleep. */
function formatAwaited({ waitsFor = [] }: Pick<ReviewState, 'waitsFor'>): string {
  const events = waitsFor.map(({ name, key }) =>
    key === undefined ? `"${name}"` : `"${name}" with key "${key}"`,
  )
  return events.join(' or ')
}

/** Returns the subject of the review: the output, or the input of the tool; empty for a question. */
function formatReviewSubject({ taskOutput, toolInput }: ReviewState): string {
  if (toolInput === undefined) return taskOutput
  return typeof toolInput === 'string' ? toolInput : JSON.stringify(toolInput, undefined, 2)
}
