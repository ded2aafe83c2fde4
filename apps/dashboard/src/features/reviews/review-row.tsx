/** One review in the list of all. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { memo, useCallback, useEffect, useId, useRef, useState } from 'react'

import { runHref } from '../../api/links.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Ago, Countdown } from '../../ui/show/time.tsx'
import { isWorthKeeping } from './decision-body.ts'
import { useDecidedHere, useDraft } from './drafts.ts'
import { ReviewClosed } from './review-closed.tsx'
import { ReviewPanel } from './review-panel.tsx'
import { endWords, TIMING } from './review-words.ts'
import styles from './reviews-page.module.css'

import type { ReviewLike } from './review-like.ts'

/** A line that opens to the review itself. */
export const ReviewRow = memo(function ReviewRow({
  review,
  onDismiss,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewIds: readonly string[]) => void
}) {
  const { reviewId, runId, detail, prompt, taskDescription, timing, end } = review
  const [isOpen, setOpen] = useState(false)
  const [draft] = useDraft(reviewId)
  const by = useDecidedHere().get(reviewId) ?? 'other'
  const id = useId()
  const dismiss = useCallback((one: string) => onDismiss([one]), [onDismiss])
  const question = prompt ?? firstLine(taskDescription)
  const keepsText = end !== undefined && by !== 'me' && isWorthKeeping(review, draft)
  const dismissButton = useRef<HTMLButtonElement>(null)
  const isClosed = end !== undefined
  useEffect(() => {
    // The panel that had the focus is gone.
    if (isClosed && document.activeElement === document.body) dismissButton.current?.focus()
  }, [isClosed])
  return (
    <li className={styles['row']}>
      <div className={styles['line']} data-closed={end === undefined ? undefined : ''}>
        <Mark kind={end === undefined ? 'held' : endMark(end)} />
        <div className={styles['what']}>
          <p id={id} className={styles['question']}>
            {question}
          </p>
          <p className={styles['soft']}>
            {`${detail === undefined ? '' : `${detail.taskName} · `}${TIMING[timing]} · run `}
            <a href={runHref(runId, { task: detail?.taskName })} className={styles['run']}>
              {runId}
            </a>
            {' · asked '}
            <Ago at={review.openedAt} />
          </p>
        </div>
        <p className={styles['time']}>
          {end !== undefined && endWords(end, by === 'other')}
          {end === undefined && !isOpen && review.expiresAt !== undefined && (
            <Countdown until={review.expiresAt} />
          )}
          {end === undefined && !isOpen && review.expiresAt === undefined && 'no time limit'}
        </p>
        {end === undefined ? (
          <Button
            size="s"
            kind={isOpen ? 'quiet' : 'plain'}
            icon={isOpen ? <ChevronDown /> : <ChevronRight />}
            aria-expanded={isOpen}
            aria-describedby={id}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Close' : 'Decide'}
          </Button>
        ) : (
          <Button
            ref={dismissButton}
            size="s"
            kind="quiet"
            aria-describedby={id}
            onClick={() => dismiss(reviewId)}
          >
            Dismiss
          </Button>
        )}
      </div>
      {isOpen && end === undefined && <ReviewPanel review={review} onDismiss={dismiss} />}
      {keepsText && (
        <ReviewClosed review={review} isKnownOther={by === 'other'} onDismiss={dismiss} />
      )}
    </li>
  )
})

function endMark(end: NonNullable<ReviewLike['end']>): 'done' | 'stopped' {
  return end.kind === 'decided' ? 'done' : 'stopped'
}

/** The description of a tool call goes on with its input. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
