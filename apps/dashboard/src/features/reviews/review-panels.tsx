/** Shows the open reviews of a run. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

import { cx } from '../../lib/cx.ts'
import hidden from '../../ui/show/visually-hidden.module.css'
import { useDecidedHere } from './drafts.ts'
import { fromReviewState } from './review-like.ts'
import { ReviewPanel } from './review-panel.tsx'
import { formatReviewLabel } from './review-labels.ts'
import { useOpenReviews } from './use-open-reviews.ts'
import styles from './review-panels.module.css'

import type { RunState } from '@tutti/protocol'

/**
 * Time for which a review must stay open to be shown if the server's list is unavailable, in
 * milliseconds.
 */
const SETTLED_MS = 1_000

/**
 * A panel for each open review, and a notice for each one closed while it was shown. New reviews
 * are announced; the focus does not move.
 */
export function ReviewPanels({
  runId,
  state,
}: {
  readonly runId: string
  readonly state: RunState
}) {
  const openIds = state.reviews.flatMap(({ status, reviewId }) =>
    status === 'OPEN' ? [reviewId] : [],
  )
  const settled = useSettled(openIds)
  const [watched, setWatched] = useState<readonly string[]>([])
  const fresh = settled.filter((id) => !watched.includes(id))
  if (fresh.length > 0) setWatched([...watched, ...fresh])
  const decidedHere = useDecidedHere()
  const { reviews: all } = state
  const { data } = useOpenReviews()
  const reviews = useMemo(
    () =>
      all
        .filter(
          ({ reviewId, status }) =>
            watched.includes(reviewId) && (status === 'OPEN' || decidedHere.get(reviewId) !== 'me'),
        )
        .map((state) => {
          const listed = data?.open.find(({ reviewId }) => reviewId === state.reviewId)
          return { ...fromReviewState(state, runId), mayDecide: listed?.mayDecide }
        }),
    [all, watched, decidedHere, runId, data],
  )
  const region = useFocusAfterLoss(reviews.length)
  const dismiss = useCallback((reviewId: string) => {
    setWatched((known) => known.filter((id) => id !== reviewId))
  }, [])
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map())
  const fold = useCallback((reviewId: string, isFolded: boolean) => {
    setFolds((known) => new Map(known).set(reviewId, isFolded))
  }, [])
  const waiting = reviews.filter(({ end }) => end === undefined)
  return (
    <section
      ref={region}
      aria-label="Reviews of this run"
      tabIndex={-1}
      className={cx(styles['panels'], reviews.length === 0 && styles['none'])}
    >
      <p role="status" className={hidden['hidden']}>
        {waiting.map((review) => `${formatReviewLabel(review)} needs a decision.`).join(' ')}
      </p>
      {reviews.map((review) => (
        <ReviewPanel
          key={review.reviewId}
          review={review}
          onDismiss={dismiss}
          // Several expanded panels would leave no room for the run.
          isFolded={folds.get(review.reviewId) ?? (waiting.length > 1 && review !== waiting[0])}
          onFold={waiting.length > 1 || folds.get(review.reviewId) === true ? fold : undefined}
        />
      ))}
    </section>
  )
}

/** Returns the ref of an element that receives the focus when a focused panel disappears. */
function useFocusAfterLoss(count: number) {
  const region = useRef<HTMLElement>(null)
  const before = useRef(count)
  useEffect(() => {
    const hasFocus = document.activeElement !== document.body
    if (count < before.current && !hasFocus) region.current?.focus()
    before.current = count
  }, [count])
  return region
}

/**
 * Returns the reviews that are open now. While the history of a run loads, reviews that were closed
 * long ago open and close. The server's list distinguishes them; without it, those that stay open for
 * `SETTLED_MS`.
 */
function useSettled(openIds: readonly string[]): readonly string[] {
  const { data } = useOpenReviews()
  const [late, setLate] = useState<readonly string[]>([])
  const all = openIds.join(' ')
  useEffect(() => {
    const timer = setTimeout(() => setLate(all.split(' ')), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [all])
  return openIds.filter(
    (id) => late.includes(id) || data?.open.some(({ reviewId }) => reviewId === id) === true,
  )
}
