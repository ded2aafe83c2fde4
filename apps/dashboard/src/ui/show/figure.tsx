/** Numbers with names. */
import styles from './figure.module.css'

import type { ReactNode } from 'react'

/** A list of `Figure` elements. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className={styles['figures']}>{children}</dl>
}

export function Figure({
  name,
  title,
  children,
}: {
  readonly name: string
  /** Exact value or explanation, shown as a tooltip. */
  readonly title?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <div className={styles['figure']} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
