/** What can be decided about a review, as buttons. */
import { useId } from 'react'

import { Button } from '../../ui/controls/button.tsx'
import { focusOnce } from './review-form.tsx'
import { actionWords, forbiddenWords, roleWords, timeoutWords } from './review-words.ts'
import styles from './review-panel.module.css'

import type { DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { Deciding } from './use-decision.ts'

const FORMS: readonly DraftMode[] = ['EDIT', 'REJECT', 'EXIT_EARLY']

/** The buttons; those with a form open it. */
export function ReviewActions({
  review,
  deciding,
  focusOn,
  onOpen,
}: {
  readonly review: ReviewLike
  readonly deciding: Deciding
  /** The form that was left: its button has the focus again. */
  readonly focusOn: DraftMode | undefined
  readonly onOpen: (mode: DraftMode) => void
}) {
  const words = actionWords(review)
  const { isBusy } = deciding
  const forbidden = forbiddenWords(review)
  const isForbidden = forbidden !== undefined
  const id = useId()
  const rest = [
    ...(review.expiresAt === undefined ? [] : [timeoutWords(review)]),
    ...(isForbidden ? [forbidden] : roleWords(review)),
  ]
  return (
    <div className={styles['actions']}>
      <Button
        kind="primary"
        busy={isBusy}
        disabled={isForbidden}
        aria-describedby={isForbidden ? id : undefined}
        onClick={() => deciding.decide({ decision: 'CONTINUE' })}
      >
        {isBusy ? 'Sending…' : words.CONTINUE}
      </Button>
      {FORMS.map((mode) => (
        <Button
          key={mode}
          busy={isBusy}
          disabled={isForbidden}
          aria-describedby={isForbidden ? id : undefined}
          ref={mode === focusOn ? focusOnce : undefined}
          onClick={() => onOpen(mode)}
        >
          {words[mode]}
        </Button>
      ))}
      {rest.length > 0 && (
        <p id={id} className={styles['hint']}>
          {rest.join(' ')}
        </p>
      )}
    </div>
  )
}
