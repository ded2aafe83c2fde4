/** Messages within the page: notices, empty states, loading states. */
import { cx } from '../../lib/cx.ts'
import styles from './notice.module.css'

import type { ReactNode } from 'react'

interface NoticeProps {
  readonly tone?: 'plain' | 'live' | 'held' | 'failed' | 'done'
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

/** A notice. Screen readers announce `failed` at once, other tones when idle. */
export function Notice({ tone = 'plain', title, actions, children }: NoticeProps) {
  return (
    <div
      role={tone === 'failed' ? 'alert' : 'status'}
      className={cx(styles['notice'], styles[tone])}
    >
      <div className={styles['words']}>
        {title !== undefined && <p className={styles['title']}>{title}</p>}
        {children}
      </div>
      {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  /** Whether nothing else is on the page, so that the title is its heading. */
  readonly isPage?: boolean
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

/** An empty state: says what would be here, and how to get it. */
export function Empty({ title, isPage = false, children, actions }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p'
  return (
    <div className={styles['empty']}>
      <Title className={styles['title']}>{title}</Title>
      {children !== undefined && <div className={styles['soft']}>{children}</div>}
      {actions}
    </div>
  )
}

/** A loading state; `label` names what is being loaded. */
export function Loading({ label }: { readonly label: string }) {
  return (
    <div role="status" className={styles['loading']}>
      {label}
    </div>
  )
}
