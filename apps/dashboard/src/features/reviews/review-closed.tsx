/** Shows the outcome of a review that was closed while the reader looked at it. */
import { X } from 'lucide-react'

import { IconButton } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { isWorthKeeping } from './decision-body.ts'
import { forgetDraft, useDraft } from './drafts.ts'
import { describeReviewEnd, formatReviewLabel } from './review-labels.ts'
import styles from './review-panel.module.css'

import type { ReviewLike } from './review-like.ts'

/** The outcome of a review. The reader's unsent text stays available. */
export function ReviewClosed({
  review,
  isKnownOther,
  onDismiss,
}: {
  readonly review: ReviewLike
  readonly isKnownOther: boolean
  readonly onDismiss: (reviewId: string) => void
}) {
  const [draft] = useDraft(review.reviewId)
  const { end } = review
  const words =
    end === undefined
      ? 'Another reviewer decided; loading the decision'
      : describeReviewEnd(end, isKnownOther)
  const dismiss = (): void => {
    forgetDraft(review.reviewId)
    onDismiss(review.reviewId)
  }
  return (
    <Notice
      title={
        <>
          {`${formatReviewLabel(review)}: ${words}`}
          {end?.kind === 'decided' && (
            <span className={styles['facts']}>
              {' '}
              <Ago at={end.at} />
            </span>
          )}
        </>
      }
      actions={
        <IconButton
          label={`Dismiss: ${formatReviewLabel(review)}`}
          icon={<X />}
          onClick={dismiss}
        />
      }
    >
      {end?.kind === 'decided' && end.feedback !== undefined && <Text>{`“${end.feedback}”`}</Text>}
      {isWorthKeeping(review, draft) && (
        <Unsent label="Your text was not sent" text={draft.text ?? ''} more={draft.feedback} />
      )}
    </Notice>
  )
}

function Unsent({
  label,
  text,
  more,
}: {
  readonly label: string
  readonly text: string
  readonly more: string
}) {
  const whole = [text, more].filter((part) => part.trim() !== '').join('\n\n')
  return (
    <details className={styles['unsent']} open>
      <summary>{label}</summary>
      <div className={styles['kept']}>
        <Text kind="code">{whole}</Text>
        <CopyButton text={whole} label="Copy your text" />
      </div>
    </details>
  )
}
