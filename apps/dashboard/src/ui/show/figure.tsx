/** A number with its name. */
import styles from './figure.module.css'

import type { ReactNode } from 'react'

/** A list of figures; its children are `Figure`s. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className={styles['figures']}>{children}</dl>
}

export function Figure({
  name,
  title,
  children,
}: {
  readonly name: string
  /** What it says exactly, shown when one points at it. */
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
