/** A question in front of the page. The browser's own dialog: it keeps the focus in and gives it back. */
import { X } from 'lucide-react'
import { useEffect, useId, useRef, type ReactNode } from 'react'

import { IconButton } from '../controls/button.tsx'
import styles from './dialog.module.css'

/** A dialog that is open as long as it is rendered. What has `data-autofocus` has the focus first. */
export function Dialog({
  title,
  onClose,
  footer,
  wide = false,
  children,
}: {
  readonly title: ReactNode
  /** Asked for by Escape, by the button, and by a click beside the dialog. */
  readonly onClose: () => void
  /** Buttons, the one that does it last. */
  readonly footer?: ReactNode
  readonly wide?: boolean
  readonly children: ReactNode
}) {
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
