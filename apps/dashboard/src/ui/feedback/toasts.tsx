/**
 * Short messages about completed actions. They are announced by screen readers and disappear after
 * a while.
 */
import { X } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'

import { cx } from '../../lib/cx.ts'
import { IconButton } from '../controls/button.tsx'
import styles from './toasts.module.css'

/** A toast. A failure stays until the reader closes it. */
export interface Toast {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly text: string
}

/** Time to read two lines, in milliseconds. */
const SHOWN_FOR_MS = 6_000

let toasts: readonly Toast[] = []
let lastId = 0
const readers = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const reader of readers) reader()
}

/** Shows a toast. A toast with the same text replaces the earlier one. */
export function toast(text: string, tone: Toast['tone'] = 'done'): void {
  lastId += 1
  change([...toasts.filter((other) => other.text !== text), { id: lastId, tone, text }].slice(-4))
}

function close(id: number): void {
  change(toasts.filter((other) => other.id !== id))
}

function follow(reader: () => void): () => void {
  readers.add(reader)
  return () => readers.delete(reader)
}

/** Shows the toasts. Render it once per page. */
export function Toasts() {
  const shown = useSyncExternalStore(follow, () => toasts)
  return (
    <div role="log" aria-label="Messages" className={styles['toasts']}>
      {shown.map((one) => (
        <ToastView key={one.id} toast={one} />
      ))}
    </div>
  )
}

function ToastView({ toast: { id, tone, text } }: { readonly toast: Toast }) {
  useEffect(() => {
    if (tone === 'failed') return undefined
    const timer = setTimeout(() => close(id), SHOWN_FOR_MS)
    return () => clearTimeout(timer)
  }, [id, tone])
  return (
    <div className={cx(styles['toast'], styles[tone])}>
      <span>{text}</span>
      <IconButton label="Close message" icon={<X />} onClick={() => close(id)} />
    </div>
  )
}
