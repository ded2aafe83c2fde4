/** Every review that waits for a person. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

import { failureText } from '../../api/failure.ts'
import { runsHref } from '../../api/links.ts'
import { plural } from '../../lib/format.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Checkbox, TextArea } from '../../ui/controls/inputs.tsx'
import { inOrder, NO_OPEN_REVIEWS } from './open-reviews.ts'
import { ReviewFailure } from './review-failure.tsx'
import { EVERY_REVIEW, fitsFilter, ReviewFilters } from './review-filters.tsx'
import { ReviewItem } from './review-row.tsx'
import { reviewTitle } from './review-words.ts'
import { useDecideMany, type DecidingMany } from './use-decide-many.ts'
import { useDismissClosed, useOpenReviews } from './use-open-reviews.ts'
import styles from './reviews-page.module.css'

import type { ReviewLike } from './review-like.ts'

/** The page of all open reviews, those first that are over soonest. */
export function ReviewsPage() {
  const { data, error, refetch, isFetching } = useOpenReviews()
  const dismiss = useDismissClosed()
  const { open, closed } = data ?? NO_OPEN_REVIEWS
  const [filter, setFilter] = useState(EVERY_REVIEW)
  const [selectedIds, setSelected] = useState<readonly string[]>([])
  const deciding = useDecideMany()
  const reviews = useMemo(
    () => inOrder({ open, closed }).filter((review) => fitsFilter(review, filter)),
    [open, closed, filter],
  )
  const selectable = reviews.filter(
    ({ end, mayDecide }) => end === undefined && mayDecide !== false,
  )
  const selected = selectable.filter(({ reviewId }) => selectedIds.includes(reviewId))
  const select = useCallback((reviewId: string) => {
    setSelected((ids) =>
      ids.includes(reviewId) ? ids.filter((id) => id !== reviewId) : [...ids, reviewId],
    )
  }, [])
  useForgetOthers(closed.map(({ reviewId }) => reviewId))
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>Reviews</h1>
        {data !== undefined && open.length > 0 && (
          <p className={styles['soft']}>{`${plural(open.length, 'review')} waiting`}</p>
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
        <Unread error={error} isBusy={isFetching} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && <Loading label="Reading the reviews" />}
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
              // A box beside a single review would select nothing but it.
              onSelect={selectable.length > 1 ? select : undefined}
              deciding={deciding}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

/** Shows why the list could not be read. */
function Unread({
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
      title="The reviews could not be read"
      actions={
        <Button busy={isBusy} onClick={onRetry}>
          Try again
        </Button>
      }
    >
      {failureText(error)}
    </Notice>
  )
}

/** Instead of the list, when no review is waiting or none fits the filter. */
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
        title="No review fits the filter"
        actions={<Button onClick={onShowAll}>Show all reviews</Button>}
      >
        {`${plural(waiting, 'review')} waiting in all.`}
      </Empty>
    )
  }
  return (
    <Empty
      title="No review is waiting"
      actions={<LinkButton href={runsHref()}>To the runs</LinkButton>}
    >
      When a run asks for a decision, it is here, and counted beside “Reviews” above.
    </Empty>
  )
}

/** Decisions of the list that were not accepted. */
function FailedDecisions({ failed, dismissFailed }: DecidingMany) {
  if (failed.length === 0) return undefined
  return (
    <div className={styles['failures']}>
      {failed.map(({ review, error }) => (
        <div key={review.reviewId}>
          <p className={styles['soft']}>{`${reviewTitle(review)} of run ${review.runId}`}</p>
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

/** What was closed is news for who looks at the page, and not for who comes to it later or again. */
function useForgetOthers(reviewIds: readonly string[]): void {
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

/** The bar over the list: selects all, and decides what is selected. */
function DecideBar({
  reviews,
  selected,
  deciding,
  onSelect,
}: {
  /** Those that can be selected. */
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
    const words = feedback?.trim() ?? ''
    await deciding.decide(
      selected,
      decision === 'REJECT' ? { decision, feedback: words } : { decision },
    )
    setFeedback(undefined)
    onSelect([])
  }
  return (
    <div role="group" aria-label="Selected reviews" className={styles['bar']}>
      <Checkbox checked={isAll} onChange={() => onSelect(isAll ? [] : all)}>
        {count === 0 ? 'Select all' : `${plural(count, 'review')} selected`}
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
        <form
          className={styles['feedback']}
          onSubmit={(event) => {
            event.preventDefault()
            if (feedback.trim() !== '' && !isBusy) void decide('REJECT')
          }}
        >
          <Field label="What should be different" required hint="The same words go to every agent.">
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
        </form>
      )}
    </div>
  )
}
