/** Numbers with names. */
import styles from './figure.module.css'

import type { ReactNode } from 'react'

/** A list of `Figure` elements. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className={styles['figures']}>{children}</dl>
}

interface FigureProps {
  readonly name: string
  /** Exact value or explanation, shown as a tooltip. */
  readonly title?: string | undefined
  readonly children: ReactNode
}

export function Figure({ name, title, children }: FigureProps) {
  return (
    <div className={styles['figure']} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
