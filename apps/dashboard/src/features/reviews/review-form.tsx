/** The frame of the forms of a review, with its buttons and keys. */
import { Button, type ButtonKind } from '../../ui/controls/button.tsx'
import { SendForm } from '../../ui/layout/send-form.tsx'
import { toDecisionBody } from './decision-body.ts'
import styles from './review-panel.module.css'

import type { Draft, DraftMode } from './drafts.ts'
import type { ReviewLike } from './review-like.ts'
import type { Deciding } from './use-decision.ts'
import type { ReactNode } from 'react'

/** Props of every form of a review. */
export interface ReviewFormProps {
  readonly review: ReviewLike
  readonly draft: Draft
  readonly change: (change: Partial<Draft>) => void
  readonly deciding: Deciding
  /** Whether the reader has just opened the form. */
  readonly takesFocus: boolean
  readonly onBack: () => void
}

/** A form that decides a review. Ctrl+Enter sends it; Escape closes it and keeps the draft. */
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
  /** Label of the submit button. */
  readonly submit: string
  readonly kind?: ButtonKind
  /** Whether it is invalid; its fields show why. */
  readonly isBlocked?: boolean
  readonly children: ReactNode
}) {
  return (
    <SendForm
      className={styles['form']}
      isBlocked={isBlocked || deciding.isBusy}
      onSend={() => deciding.decide(toDecisionBody(review, mode, draft))}
      onEscape={onBack}
    >
      {children}
      <div className={styles['actions']}>
        <Button
          type="submit"
          kind={kind}
          busy={deciding.isBusy}
          disabled={isBlocked}
          // A form without fields puts the focus on its submit button.
          ref={mode === 'EXIT_EARLY' && takesFocus ? focusOnce : undefined}
        >
          {deciding.isBusy ? 'Sending…' : submit}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          Back
        </Button>
        <span className={styles['hint']}>Press Ctrl+Enter to send</span>
      </div>
    </SendForm>
  )
}

/** Focuses an element when it is mounted. */
export function focusOnce(element: HTMLElement | null): void {
  element?.focus()
}
