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
import { runTagLabels } from './review-filters.tsx'
import { asksForText } from './review-like.ts'
import { endWords, forbiddenWords, reviewPreview, roleWords, TIMING } from './review-words.ts'
import styles from './reviews-page.module.css'

import type { ReviewLike } from './review-like.ts'
import type { DecidingMany } from './use-decide-many.ts'

/** A line that opens to the review itself. */
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
  /** Absent where the review cannot be selected with others. */
  readonly onSelect: ((reviewId: string) => void) | undefined
  readonly deciding: DecidingMany
}) {
  const { reviewId, prompt, taskDescription, end } = review
  const [isOpen, setOpen] = useState(false)
  const [draft] = useDraft(reviewId)
  const isForbidden = forbiddenWords(review) !== undefined
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
        <RowMark
          review={review}
          question={question}
          isSelected={isSelected}
          onSelect={isForbidden ? undefined : onSelect}
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
            : endWords(end, by === 'other')}
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

/** The box that selects an open review, else how it stands. */
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
  if (end !== undefined) return <Mark kind={endMark(end)} />
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

/** Decisions that can be made in the line itself; the others are in the review. */
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
  const forbidden = forbiddenWords(review)
  const look = { size: 's', disabled: forbidden !== undefined, title: forbidden } as const
  return (
    <>
      {!isOpen && !asksForText(review) && (
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
  const { runId, detail, run, timing, openedAt } = review
  const names = [run?.ensemble, detail?.taskName, TIMING[timing]]
  return (
    <p className={styles['soft']}>
      {`${names.filter((name) => name !== undefined).join(' · ')} · run `}
      <a href={runHref(runId, { task: detail?.taskName })} className={styles['run']}>
        {runId}
      </a>
      {' · asked '}
      <Ago at={openedAt} />
    </p>
  )
}

/** The inputs and tags of the run, the start of what is under review, and who can decide it. */
function Preview({ review }: { readonly review: ReviewLike }) {
  const inputs = Object.entries(review.run?.inputs ?? {})
  const tags = runTagLabels(review)
  const text = reviewPreview(review)
  const role = forbiddenWords(review) ?? roleWords(review)[0]
  return (
    <>
      {inputs.length + tags.length > 0 && (
        <p className={styles['soft']}>
          {inputs.map(([name, value]) => `${name}: ${firstLine(value)}`).join(' · ')}
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

function endMark(end: NonNullable<ReviewLike['end']>): 'done' | 'stopped' {
  return end.kind === 'decided' ? 'done' : 'stopped'
}

/** The description of a tool call goes on with its input. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
