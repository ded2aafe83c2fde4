/** Modal dialogs, based on `<dialog>`, which traps the focus and restores it. */
import { X } from 'lucide-react'
import { useEffect, useId, useRef, type ReactNode } from 'react'

import { IconButton } from '../controls/button.tsx'
import styles from './dialog.module.css'

interface DialogProps {
  readonly title: ReactNode
  /** Called on Escape, on the close button, and on a click outside the dialog. */
  readonly onClose: () => void
  /** Buttons; the primary action is the last. */
  readonly footer?: ReactNode
  readonly wide?: boolean
  readonly children: ReactNode
}

/** A dialog, open while it is rendered. The element with `data-autofocus` gets the focus first. */
export function Dialog({ title, onClose, footer, wide = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      className={wide ? styles['wide'] : styles['dialog']}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose()
      }}
    >
      <div className={styles['content']}>
        <header className={styles['head']}>
          <h2 id={id}>{title}</h2>
          <IconButton label="Close" icon={<X />} onClick={onClose} />
        </header>
        <div className={styles['body']}>{children}</div>
        {footer !== undefined && <footer className={styles['footer']}>{footer}</footer>}
      </div>
    </dialog>
  )
}
