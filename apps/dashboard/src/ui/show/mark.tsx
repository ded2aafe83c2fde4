/**
 * Marks of states: one shape each, so that nothing depends on color alone. Open reviews have a
 * fermata, the musical sign for holding a note.
 */
import { cx } from '../../lib/cx.ts'
import styles from './mark.module.css'

import type { ReactNode } from 'react'

export type MarkKind =
  | 'queued'
  | 'live'
  | 'stopping'
  | 'held'
  | 'done'
  | 'failed'
  | 'stopped'
  | 'skipped'

const SHAPES: Readonly<Record<MarkKind, ReactNode>> = {
  queued: <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 2.2" />,
  live: (
    <>
      <circle cx="8" cy="8" r="5.25" className={styles['track']} />
      <path d="M8 2.75a5.25 5.25 0 0 1 5.25 5.25" className={styles['turning']} />
    </>
  ),
  stopping: (
    <>
      <circle cx="8" cy="8" r="5.25" className={styles['track']} />
      <path d="M8 2.75a5.25 5.25 0 0 1 5.25 5.25" className={styles['turning']} />
      <rect x="6" y="6" width="4" height="4" className={styles['solid']} />
    </>
  ),
  held: (
    <>
      <path d="M2.5 11a5.5 5.5 0 0 1 11 0" />
      <circle cx="8" cy="10.6" r="1.7" className={styles['solid']} />
    </>
  ),
  done: <path d="M3.5 8.5l3 3 6-6.5" />,
  failed: <path d="M4 4l8 8M12 4l-8 8" />,
  stopped: <rect x="3.75" y="3.75" width="8.5" height="8.5" rx="1" />,
  skipped: <path d="M3.5 8h9" />,
}

/** A mark. `label` is its accessible name; omit it if a visible label is next to the mark. */
export function Mark({ kind, label }: { readonly kind: MarkKind; readonly label?: string }) {
  const named = label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return (
    <svg className={cx(styles['mark'], styles[kind])} viewBox="0 0 16 16" {...named}>
      {SHAPES[kind]}
    </svg>
  )
}

export function Marked({ kind, children }: { readonly kind: MarkKind; readonly children: string }) {
  return (
    <span className={cx(styles['marked'], styles[kind])}>
      <Mark kind={kind} />
      {children}
    </span>
  )
}
