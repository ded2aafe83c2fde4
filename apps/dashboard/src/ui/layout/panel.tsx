/** Panels: parts of a page with a heading. */
import { cx } from '../../lib/cx.ts'
import styles from './panel.module.css'

import type { ReactNode } from 'react'

/** A part of a page; `tone` highlights one that needs attention. */
export function Panel({
  title,
  actions,
  tone = 'plain',
  flush = false,
  className,
  children,
}: {
  readonly title?: ReactNode
  /** Shown at the end of the heading. */
  readonly actions?: ReactNode
  readonly tone?: 'plain' | 'held' | 'failed'
  /** Whether the content has no padding. */
  readonly flush?: boolean
  readonly className?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <section className={cx(styles['panel'], styles[tone], className)}>
      {title !== undefined && (
        <header className={styles['head']}>
          <h2>{title}</h2>
          {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
        </header>
      )}
      <div className={flush ? styles['flush'] : styles['body']}>{children}</div>
    </section>
  )
}
