/** The reviews of a run that wait for a person. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

import { cx } from '../../lib/cx.ts'
import unseen from '../../ui/show/unseen.module.css'
import { useDecidedHere } from './drafts.ts'
import { reviewOfGate } from './review-like.ts'
import { ReviewPanel } from './review-panel.tsx'
import { reviewTitle } from './review-words.ts'
import { useOpenReviews } from './use-open-reviews.ts'
import styles from './gate-panels.module.css'

import type { RunState } from '@tutti/protocol'

/** How long a gate has to be open in the events before it counts, when the server's list is not there. */
const SETTLED_MS = 1_000

/**
 * A panel for each open gate, and a word on each that was closed while it was shown. It tells that a review
 * waits, and leaves the focus where it is.
 */
export function GatePanels({ runId, state }: { readonly runId: string; readonly state: RunState }) {
  const openIds = state.reviews.flatMap(({ status, reviewId }) =>
    status === 'OPEN' ? [reviewId] : [],
  )
  const settled = useSettled(openIds)
  const [watched, setWatched] = useState<readonly string[]>([])
  const fresh = settled.filter((id) => !watched.includes(id))
  if (fresh.length > 0) setWatched([...watched, ...fresh])
  const decidedHere = useDecidedHere()
  const { reviews: gates } = state
  const { data } = useOpenReviews()
  const reviews = useMemo(
    () =>
      gates
        .filter(
          ({ reviewId, status }) =>
            watched.includes(reviewId) && (status === 'OPEN' || decidedHere.get(reviewId) !== 'me'),
        )
        .map((gate) => {
          const listed = data?.open.find(({ reviewId }) => reviewId === gate.reviewId)
          return { ...reviewOfGate(gate, runId), mayDecide: listed?.mayDecide }
        }),
    [gates, watched, decidedHere, runId, data],
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
      <p role="status" className={unseen['unseen']}>
        {waiting.map((review) => `${reviewTitle(review)} waits for a decision.`).join(' ')}
      </p>
      {reviews.map((review) => (
        <ReviewPanel
          key={review.reviewId}
          review={review}
          onDismiss={dismiss}
          // Several whole panels would leave no room for the run.
          isFolded={folds.get(review.reviewId) ?? (waiting.length > 1 && review !== waiting[0])}
          onFold={waiting.length > 1 || folds.get(review.reviewId) === true ? fold : undefined}
        />
      ))}
    </section>
  )
}

/** An element that takes the focus when a panel that had it has gone. */
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
 * The gates that wait now: while the past of a run is read, gates open and close that were closed long ago.
 * The server's list knows, and when it is not there, those that stay open for a while.
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
