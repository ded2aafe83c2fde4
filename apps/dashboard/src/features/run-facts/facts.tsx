/** Facts under a heading. */
import { cx } from '../../lib/cx.ts'
import styles from './facts.module.css'

import type { ReactNode } from 'react'

/** A part; its children are `Fact`s, or words where there is none. */
export function Facts({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <section aria-label={title} className={styles['part']}>
      <h3>{title}</h3>
      <div className={styles['facts']}>{children}</div>
    </section>
  )
}

/** A fact; nothing when it is not known. */
export function Fact({
  name,
  isOwn = false,
  children,
}: {
  readonly name: string
  /** Whether the name is somebody's own and is written as it is. */
  readonly isOwn?: boolean
  readonly children: ReactNode
}) {
  if (children === undefined || children === null) return null
  return (
    <dl className={styles['fact']}>
      <dt className={cx(styles['name'], isOwn && styles['own'])}>{name}</dt>
      <dd>{children}</dd>
    </dl>
  )
}
