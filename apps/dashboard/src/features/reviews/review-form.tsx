/** The frame of the forms of a review: what sends it, and what leaves it. */
import { Button, type ButtonKind } from '../../ui/controls/button.tsx'
import { decisionOf } from './decision-body.ts'
import styles from './review-panel.module.css'

import type { Draft, DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { Deciding } from './use-decision.ts'
import type { KeyboardEvent, ReactNode } from 'react'

/** What every form of a review is given. */
export interface ReviewFormProps {
  readonly review: ReviewLike
  readonly draft: Draft
  readonly change: (change: Partial<Draft>) => void
  readonly deciding: Deciding
  /** Whether the reader has just opened it. */
  readonly takesFocus: boolean
  readonly onBack: () => void
}

/** A form that decides a review; Ctrl+Enter sends it, Escape leaves it and keeps what was written. */
export function ReviewForm({
  mode,
  submit,
  kind = 'primary',
  isBlocked = false,
  children,
  review,
  draft,
  deciding,
  takesFocus,
  onBack,
}: ReviewFormProps & {
  readonly mode: DraftMode
  /** Words of the button. */
  readonly submit: string
  readonly kind?: ButtonKind
  /** Whether it cannot be sent as it is; its fields say why. */
  readonly isBlocked?: boolean
  readonly children: ReactNode
}) {
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      event.currentTarget.requestSubmit()
    }
    if (event.key === 'Escape') onBack()
  }
  return (
    <form
      className={styles['form']}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBlocked && !deciding.isBusy) deciding.decide(decisionOf(review, mode, draft))
      }}
    >
      {children}
      <div className={styles['actions']}>
        <Button
          type="submit"
          kind={kind}
          busy={deciding.isBusy}
          disabled={isBlocked}
          // A form without a field gets the focus on what it asks.
          ref={mode === 'EXIT_EARLY' && takesFocus ? focusOnce : undefined}
        >
          {deciding.isBusy ? 'Sending…' : submit}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          Back
        </Button>
        <span className={styles['hint']}>Ctrl+Enter sends it</span>
      </div>
    </form>
  )
}

/** Gives an element the focus when it appears. */
export function focusOnce(element: HTMLElement | null): void {
  element?.focus()
}
