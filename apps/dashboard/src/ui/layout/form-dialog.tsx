/** A dialog with a form. Ctrl+Enter also sends it. */
import { useId, type ReactNode } from 'react'

import { Button, type ButtonKind } from '../controls/button.tsx'
import { Dialog } from './dialog.tsx'
import { SendForm } from './send-form.tsx'
import styles from './dialog.module.css'

export function FormDialog({
  title,
  submit,
  sending = 'Sending…',
  kind = 'primary',
  wide = false,
  isBusy,
  isBlocked = false,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  /** Label of the submit button. */
  readonly submit: string
  /** Label of the submit button while busy. @default 'Sending…' */
  readonly sending?: string | undefined
  readonly kind?: ButtonKind | undefined
  readonly wide?: boolean | undefined
  readonly isBusy: boolean
  readonly isBlocked?: boolean | undefined
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const id = useId()
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      footer={
        <>
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" form={id} kind={kind} busy={isBusy} disabled={isBlocked}>
            {isBusy ? sending : submit}
          </Button>
        </>
      }
    >
      <SendForm
        id={id}
        className={styles['form']}
        isBlocked={isBusy || isBlocked}
        onSend={onSubmit}
      >
        {children}
      </SendForm>
    </Dialog>
  )
}
