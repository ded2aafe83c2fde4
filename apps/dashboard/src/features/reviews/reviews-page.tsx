/** The page of all open reviews. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { linkToRuns } from '../../api/links.ts'
import { formatPlural } from '../../lib/format.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import { SendForm } from '../../ui/layout/send-form.tsx'
import { sortReviews, NO_OPEN_REVIEWS } from './open-reviews.ts'
import { ReviewFailure } from './review-failure.tsx'
import { EVERY_REVIEW, matchesReviewFilter, ReviewFilters } from './review-filters.tsx'
import { ReviewItem } from './review-row.tsx'
import { formatReviewLabel } from './review-labels.ts'
import { useDecideMany, type DecidingMany } from './use-decide-many.ts'
import { useDismissClosed, useOpenReviews } from './use-open-reviews.ts'
import styles from './reviews-page.module.css'

import { isQuestion, type ReviewLike } from './review-like.ts'

/** The reviews page, sorted by deadline. */
export function ReviewsPage() {
  const { data, error, refetch, isFetching } = useOpenReviews()
  const dismiss = useDismissClosed()
  const { open, closed } = data ?? NO_OPEN_REVIEWS
  const [filter, setFilter] = useState(EVERY_REVIEW)
  const [selectedIds, setSelected] = useState<readonly string[]>([])
  const deciding = useDecideMany()
  const reviews = useMemo(
    () => sortReviews({ open, closed }).filter((review) => matchesReviewFilter(review, filter)),
    [open, closed, filter],
  )
  const selectable = reviews.filter(
    (review) => review.end === undefined && review.mayDecide !== false && !isQuestion(review),
  )
  const selected = selectable.filter(({ reviewId }) => selectedIds.includes(reviewId))
  const select = useCallback((reviewId: string) => {
    setSelected((ids) =>
      ids.includes(reviewId) ? ids.filter((id) => id !== reviewId) : [...ids, reviewId],
    )
  }, [])
  useDismissOnVisit(closed.map(({ reviewId }) => reviewId))
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>Reviews</h1>
        {data !== undefined && open.length > 0 && (
          <p className={styles['soft']}>{formatPlural(open.length, 'open review')}</p>
        )}
        {closed.length > 0 && (
          <Button
            size="s"
            kind="quiet"
            className={styles['end']}
            onClick={() => dismiss(closed.map(({ reviewId }) => reviewId))}
          >
            {`Clear ${closed.length} closed`}
          </Button>
        )}
      </header>
      {error !== null && (
        <LoadFailure error={error} isBusy={isFetching} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && <Loading label="Loading reviews" />}
      <ReviewFilters reviews={open} filter={filter} onChange={setFilter} />
      {selectable.length > 1 && (
        <DecideBar
          reviews={selectable}
          selected={selected}
          deciding={deciding}
          onSelect={setSelected}
        />
      )}
      <FailedDecisions {...deciding} />
      {data !== undefined && reviews.length === 0 && (
        <NoReviews waiting={open.length} onShowAll={() => setFilter(EVERY_REVIEW)} />
      )}
      {reviews.length > 0 && (
        <ul className={styles['list']} aria-label="Reviews">
          {reviews.map((review) => (
            <ReviewItem
              key={review.reviewId}
              review={review}
              onDismiss={dismiss}
              isSelected={selectedIds.includes(review.reviewId)}
              // Selecting makes sense only for several reviews.
              onSelect={selectable.length > 1 ? select : undefined}
              deciding={deciding}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

/** Shows why the list could not be loaded. */
function LoadFailure({
  error,
  isBusy,
  onRetry,
}: {
  readonly error: unknown
  readonly isBusy: boolean
  readonly onRetry: () => void
}) {
  return (
    <Notice
      tone="failed"
      title="Failed to load the reviews"
      actions={
        <Button busy={isBusy} onClick={onRetry}>
          Try again
        </Button>
      }
    >
      {readFailureText(error)}
    </Notice>
  )
}

/** Shown if no review is open or matches the filter. */
function NoReviews({
  waiting,
  onShowAll,
}: {
  readonly waiting: number
  readonly onShowAll: () => void
}) {
  if (waiting > 0) {
    return (
      <Empty
        title="No matching reviews"
        actions={<Button onClick={onShowAll}>Show all reviews</Button>}
      >
        {`${formatPlural(waiting, 'open review')} in total.`}
      </Empty>
    )
  }
  return (
    <Empty
      title="No open reviews"
      actions={<LinkButton href={linkToRuns()}>Go to runs</LinkButton>}
    >
      Reviews that runs request appear here and are counted in the navigation bar.
    </Empty>
  )
}

/** Decisions made in the list that were not accepted. */
function FailedDecisions({ failed, dismissFailed }: DecidingMany) {
  if (failed.length === 0) return undefined
  return (
    <div className={styles['failures']}>
      {failed.map(({ review, error }) => (
        <div key={review.reviewId}>
          <p className={styles['soft']}>{`${formatReviewLabel(review)} of run ${review.runId}`}</p>
          <ReviewFailure error={error} />
        </div>
      ))}
      <div>
        <Button size="s" kind="quiet" onClick={dismissFailed}>
          Dismiss
        </Button>
      </div>
    </div>
  )
}

/** Drops closed reviews on entering and leaving the page, which shows only outcomes of the current visit. */
function useDismissOnVisit(reviewIds: readonly string[]): void {
  const dismiss = useDismissClosed()
  const latest = useRef(() => undefined as void)
  useEffect(() => {
    latest.current = () => dismiss(reviewIds)
  })
  useEffect(() => {
    latest.current()
    return () => latest.current()
  }, [])
}

/** The bar above the list: selects all reviews and decides the selected ones. */
function DecideBar({
  reviews,
  selected,
  deciding,
  onSelect,
}: {
  /** Reviews that can be selected. */
  readonly reviews: readonly ReviewLike[]
  readonly selected: readonly ReviewLike[]
  readonly deciding: DecidingMany
  readonly onSelect: (reviewIds: readonly string[]) => void
}) {
  const [feedback, setFeedback] = useState<string>()
  const { isBusy } = deciding
  const count = selected.length
  const all = reviews.map(({ reviewId }) => reviewId)
  const isAll = count > 0 && count === reviews.length
  const decide = async (decision: 'CONTINUE' | 'REJECT'): Promise<void> => {
    const text = feedback?.trim() ?? ''
    await deciding.decide(
      selected,
      decision === 'REJECT' ? { decision, feedback: text } : { decision },
    )
    setFeedback(undefined)
    onSelect([])
  }
  return (
    <div role="group" aria-label="Selected reviews" className={styles['bar']}>
      <Checkbox checked={isAll} onChange={() => onSelect(isAll ? [] : all)}>
        {count === 0 ? 'Select all' : `${formatPlural(count, 'review')} selected`}
      </Checkbox>
      {count > 0 && (
        <>
          <Button
            size="s"
            kind="primary"
            busy={isBusy}
            onClick={() => void decide('CONTINUE')}
          >{`Approve ${count}`}</Button>
          <Button
            size="s"
            busy={isBusy}
            aria-expanded={feedback !== undefined}
            onClick={() => setFeedback(feedback === undefined ? '' : undefined)}
          >{`Reject ${count}…`}</Button>
        </>
      )}
      {count > 0 && feedback !== undefined && (
        <SendForm
          className={styles['feedback']}
          isBlocked={feedback.trim() === '' || isBusy}
          onSend={() => void decide('REJECT')}
        >
          <Field label="Feedback" required hint="All agents get the same feedback.">
            {(control) => (
              <TextArea
                {...control}
                rows={2}
                value={feedback}
                onChange={({ target }) => setFeedback(target.value)}
              />
            )}
          </Field>
          <Button type="submit" kind="danger" busy={isBusy} disabled={feedback.trim() === ''}>
            {`Reject ${count}`}
          </Button>
        </SendForm>
      )}
    </div>
  )
}
