/** How a review was closed that the reader was looking at. */
import { X } from 'lucide-react'

import { IconButton } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { isWorthKeeping } from './decision-body.ts'
import { forgetDraft, useDraft } from './drafts.ts'
import { endWords, reviewTitle } from './review-words.ts'
import styles from './review-panel.module.css'

import type { ReviewLike } from './review-like.ts'

/** Who decided and what, or why nobody did; what the reader has written is not lost. */
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
      ? 'Somebody else decided; the run tells in a moment who'
      : endWords(end, isKnownOther)
  const dismiss = (): void => {
    forgetDraft(review.reviewId)
    onDismiss(review.reviewId)
  }
  return (
    <Notice
      title={
        <>
          {`${reviewTitle(review)}: ${words}`}
          {end?.kind === 'decided' && (
            <span className={styles['facts']}>
              {' '}
              <Ago at={end.at} />
            </span>
          )}
        </>
      }
      actions={
        <IconButton label={`Dismiss the ${reviewTitle(review)}`} icon={<X />} onClick={dismiss} />
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
