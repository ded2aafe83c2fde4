/** The frame of the steering dialogs. */
import { useId, type ReactNode } from 'react'

import { findFailureCode, readFailureText } from '../../api/failure.ts'
import { Button, type ButtonKind } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import styles from './steer-dialog.module.css'

/** A form in a dialog; Ctrl+Enter also sends it. */
export function SteerDialog({
  title,
  submit,
  kind = 'primary',
  isBusy,
  isBlocked = false,
  error,
  more = [],
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  /** Label of the submit button. */
  readonly submit: string
  readonly kind?: ButtonKind
  readonly isBusy: boolean
  readonly isBlocked?: boolean
  /** Error of the request, unless its fields show it. */
  readonly error: unknown
  /** Additional problems. */
  readonly more?: readonly string[]
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const id = useId()
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" form={id} kind={kind} busy={isBusy} disabled={isBlocked}>
            {isBusy ? 'Sending…' : submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy && !isBlocked) onSubmit()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }
        }}
      >
        {(error !== undefined || more.length > 0) && (
          <Notice
            tone="failed"
            title={TITLES[findFailureCode(error) ?? ''] ?? 'The request was rejected'}
          >
            {error !== undefined && <p>{readFailureText(error)}</p>}
            {more.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Notice>
        )}
        {children}
      </form>
    </Dialog>
  )
}

/** Titles for error codes. */
const TITLES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'Your key can read runs, but not steer them',
  RUN_COMPLETED: 'The run has already ended',
  RUN_NOT_RUNNING: 'No process is executing the run at the moment',
  INVALID_MODEL: 'The server does not have this model',
  CONNECTION_FAILED: 'The server could not be reached; it may have received the request',
  TIMED_OUT: 'The server did not respond in time; it may have received the request',
  NOT_CONFIRMED: 'The command is stored, but the run has not applied it yet',
}
