/** Every review that waits for a person. */
import { useEffect, useMemo, useRef } from 'react'

import { failureText } from '../../api/failure.ts'
import { runsHref } from '../../api/links.ts'
import { plural } from '../../lib/format.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { inOrder, NO_REVIEWS } from './open-reviews.ts'
import { ReviewRow } from './review-row.tsx'
import { useDismissClosed, useOpenReviews } from './use-open-reviews.ts'
import styles from './reviews-page.module.css'

/** The page of all open reviews, those first that are over soonest. */
export function ReviewsPage() {
  const { data, error, refetch, isFetching } = useOpenReviews()
  const dismiss = useDismissClosed()
  const { open, closed } = data ?? NO_REVIEWS
  const reviews = useMemo(() => inOrder({ open, closed }), [open, closed])
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
        <Notice
          tone="failed"
          title="The reviews could not be read"
          actions={
            <Button busy={isFetching} onClick={() => void refetch()}>
              Try again
            </Button>
          }
        >
          {failureText(error)}
        </Notice>
      )}
      {data === undefined && error === null && <Loading label="Reading the reviews" />}
      {data !== undefined && reviews.length === 0 && (
        <Empty
          title="Nobody waits for you"
          actions={<LinkButton href={runsHref()}>To the runs</LinkButton>}
        >
          When a run asks for a decision, it is here, and counted beside “Reviews” above.
        </Empty>
      )}
      {reviews.length > 0 && (
        <ul className={styles['list']} aria-label="Reviews">
          {reviews.map((review) => (
            <ReviewRow key={review.reviewId} review={review} onDismiss={dismiss} />
          ))}
        </ul>
      )}
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
