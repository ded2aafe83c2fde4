/** The frame of the dialogs that steer a run. */
import { useId, type ReactNode } from 'react'

import { failureCode, failureText } from '../../api/failure.ts'
import { Button, type ButtonKind } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import styles from './steer-dialog.module.css'

/** A form in a dialog; Ctrl+Enter sends it too. */
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
  /** Words of the button. */
  readonly submit: string
  readonly kind?: ButtonKind
  readonly isBusy: boolean
  readonly isBlocked?: boolean
  /** Why the server did not take it, unless its fields say so. */
  readonly error: unknown
  /** What else is wrong. */
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
          <Notice tone="failed" title={TITLES[failureCode(error) ?? ''] ?? 'This was not taken'}>
            {error !== undefined && <p>{failureText(error)}</p>}
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

/** What can be said better than the code does. */
const TITLES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'The key of this tab may look at runs, and not steer them',
  RUN_COMPLETED: 'The run has ended meanwhile',
  RUN_NOT_RUNNING: 'Nobody works on the run at this moment',
  INVALID_MODEL: 'The server does not have this model',
  CONNECTION_FAILED: 'The server was not reached; it may have taken it',
  TIMED_OUT: 'The server has not answered; it may have taken it',
  NOT_CONFIRMED: 'It is kept, and the run has not taken it up yet',
}
