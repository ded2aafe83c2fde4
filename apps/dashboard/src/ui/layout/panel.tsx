/** A sheet with a heading. */
import { cx } from '../../lib/cx.ts'
import styles from './panel.module.css'

import type { ReactNode } from 'react'

/** A part of a page; `tone` colours it when it asks for something. */
export function Panel({
  title,
  actions,
  tone = 'plain',
  flush = false,
  className,
  children,
}: {
  readonly title?: ReactNode
  /** At the end of the heading. */
  readonly actions?: ReactNode
  readonly tone?: 'plain' | 'held' | 'failed'
  /** Without space around its content. */
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
