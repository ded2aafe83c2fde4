/** Shows one review in the list of all reviews. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { memo, useCallback, useEffect, useId, useRef, useState } from 'react'

import { linkToRun } from '../../api/links.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Ago, Countdown } from '../../ui/show/time.tsx'
import { isWorthKeeping } from './decision-body.ts'
import { useDecidedHere, useDraft } from './drafts.ts'
import { ReviewClosed } from './review-closed.tsx'
import { ReviewPanel } from './review-panel.tsx'
import { formatRunTags } from './review-filters.tsx'
import { isQuestion } from './review-like.ts'
import {
  describeReviewEnd,
  describeForbidden,
  formatReviewPreview,
  describeRole,
  describeTiming,
} from './review-labels.ts'
import styles from './reviews-page.module.css'

import type { ReviewLike } from './review-like.ts'
import type { DecidingMany } from './use-decide-many.ts'

/** A row that expands to the review. */
export const ReviewItem = memo(function ReviewRow({
  review,
  onDismiss,
  isSelected,
  onSelect,
  deciding,
}: {
  readonly review: ReviewLike
  readonly onDismiss: (reviewIds: readonly string[]) => void
  readonly isSelected: boolean
  /** Undefined if the review cannot be selected. */
  readonly onSelect: ((reviewId: string) => void) | undefined
  readonly deciding: DecidingMany
}) {
  const { reviewId, prompt, taskDescription, end } = review
  const [isOpen, setOpen] = useState(false)
  const [draft] = useDraft(reviewId)
  const isForbidden = describeForbidden(review) !== undefined
  const by = useDecidedHere().get(reviewId) ?? 'other'
  const id = useId()
  const dismiss = useCallback((one: string) => onDismiss([one]), [onDismiss])
  const question = prompt ?? takeFirstLine(taskDescription)
  const keepsText = end !== undefined && by !== 'me' && isWorthKeeping(review, draft)
  const dismissButton = useRef<HTMLButtonElement>(null)
  const isClosed = end !== undefined
  useEffect(() => {
    // The focused panel was removed.
    if (isClosed && document.activeElement === document.body) dismissButton.current?.focus()
  }, [isClosed])
  return (
    <li className={styles['row']}>
      <div className={styles['line']} data-closed={end === undefined ? undefined : ''}>
        <RowMark
          review={review}
          question={question}
          isSelected={isSelected}
          // Several reviews are approved or rejected at once, which does not answer a question.
          onSelect={isForbidden || isQuestion(review) ? undefined : onSelect}
        />
        <div className={styles['what']}>
          <p id={id} className={styles['question']}>
            {question}
          </p>
          <ReviewFacts review={review} />
          {end === undefined && !isOpen && <Preview review={review} />}
        </div>
        <p className={styles['time']}>
          {end === undefined
            ? !isOpen && <TimeLeft review={review} />
            : describeReviewEnd(end, by === 'other')}
        </p>
        {end === undefined ? (
          <RowActions
            review={review}
            isOpen={isOpen}
            describedBy={id}
            deciding={deciding}
            onOpen={setOpen}
          />
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

/** A checkbox for an open review, otherwise the mark of its state. */
function RowMark({
  review: { reviewId, end },
  question,
  isSelected,
  onSelect,
}: {
  readonly review: ReviewLike
  readonly question: string
  readonly isSelected: boolean
  readonly onSelect: ((reviewId: string) => void) | undefined
}) {
  if (end !== undefined) return <Mark kind={chooseEndMark(end)} />
  if (onSelect === undefined) return <Mark kind="held" />
  return (
    <input
      type="checkbox"
      className={styles['box']}
      aria-label={`Select: ${question}`}
      checked={isSelected}
      onChange={() => onSelect(reviewId)}
    />
  )
}

function TimeLeft({ review: { expiresAt } }: { readonly review: ReviewLike }) {
  return expiresAt === undefined ? 'no time limit' : <Countdown until={expiresAt} />
}

/** Buttons of the row: quick decisions, and opening the review. */
function RowActions({
  review,
  isOpen,
  describedBy,
  deciding,
  onOpen,
}: {
  readonly review: ReviewLike
  readonly isOpen: boolean
  readonly describedBy: string
  readonly deciding: DecidingMany
  readonly onOpen: (isOpen: boolean) => void
}) {
  const [, change] = useDraft(review.reviewId)
  const forbidden = describeForbidden(review)
  const look = { size: 's', disabled: forbidden !== undefined, title: forbidden } as const
  return (
    <>
      {!isOpen && isQuestion(review) && (
        <Button
          {...look}
          kind="primary"
          aria-describedby={describedBy}
          onClick={() => {
            change({ mode: 'EDIT' })
            onOpen(true)
          }}
        >
          Answer…
        </Button>
      )}
      {!isOpen && !isQuestion(review) && (
        <Button
          {...look}
          kind="primary"
          busy={deciding.isBusy}
          aria-describedby={describedBy}
          onClick={() => void deciding.decide([review], { decision: 'CONTINUE' })}
        >
          Approve
        </Button>
      )}
      {!isOpen && (
        <Button
          {...look}
          aria-describedby={describedBy}
          onClick={() => {
            change({ mode: 'REJECT' })
            onOpen(true)
          }}
        >
          Reject…
        </Button>
      )}
      <Button
        size="s"
        kind={isOpen ? 'quiet' : 'plain'}
        icon={isOpen ? <ChevronDown /> : <ChevronRight />}
        aria-expanded={isOpen}
        aria-describedby={describedBy}
        onClick={() => onOpen(!isOpen)}
      >
        {isOpen ? 'Close' : 'Decide'}
      </Button>
    </>
  )
}

function ReviewFacts({ review }: { readonly review: ReviewLike }) {
  const { runId, detail, run, openedAt } = review
  const names = [run?.ensemble, detail?.taskName, describeTiming(review)]
  return (
    <p className={styles['soft']}>
      {`${names.filter((name) => name !== undefined).join(' · ')} · run `}
      <a href={linkToRun(runId, { task: detail?.taskName })} className={styles['run']}>
        {runId}
      </a>
      {' · opened '}
      <Ago at={openedAt} />
    </p>
  )
}

/** The inputs and tags of the run, the start of the subject, and the required role. */
function Preview({ review }: { readonly review: ReviewLike }) {
  const inputs = Object.entries(review.run?.inputs ?? {})
  const tags = formatRunTags(review)
  const text = formatReviewPreview(review)
  const role = describeForbidden(review) ?? describeRole(review)[0]
  return (
    <>
      {inputs.length + tags.length > 0 && (
        <p className={styles['soft']}>
          {inputs.map(([name, value]) => `${name}: ${takeFirstLine(value)}`).join(' · ')}
          {tags.map((tag) => (
            <span key={tag} className={styles['tag']}>
              {tag}
            </span>
          ))}
        </p>
      )}
      {text !== '' && <p className={styles['preview']}>{text}</p>}
      {role !== undefined && <p className={styles['role']}>{role}</p>}
    </>
  )
}

function chooseEndMark(end: NonNullable<ReviewLike['end']>): 'done' | 'stopped' {
  return end.kind === 'decided' ? 'done' : 'stopped'
}

/** Returns the first line; descriptions of tool calls continue with their input. */
function takeFirstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
