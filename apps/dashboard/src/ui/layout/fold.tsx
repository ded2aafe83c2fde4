/**
 * Collapsible sections. Rows of a long list leave the page while they are out of sight, so a
 * `FoldMemory` around the list remembers which of them are open.
 */
import { ChevronRight } from 'lucide-react'
import { createContext, useContext, useId, useSyncExternalStore, type ReactNode } from 'react'

import { createStore, type Store } from '../../lib/store.ts'
import styles from './fold.module.css'

/** Folds that the reader has opened (`true`) or closed (`false`), by name. */
export type Folds = Store<ReadonlyMap<string, boolean>>

/** Provides the fold states for a section of the page. */
export const FoldMemory = createContext<Folds>(createFolds())

/** Creates an empty fold memory. */
export function createFolds(): Folds {
  return createStore<ReadonlyMap<string, boolean>>(new Map())
}

/** Returns whether a fold is open, and a function that toggles it. */
export function useFold(name: string, isOpenAtFirst = false): readonly [boolean, () => void] {
  const folds = useContext(FoldMemory)
  const isOpen = useSyncExternalStore(folds.follow, () => folds.get().get(name) ?? isOpenAtFirst)
  return [isOpen, () => folds.set(new Map(folds.get()).set(name, !isOpen))]
}

/** A heading that opens and closes its content. The content is rendered only while it is open. */
export function Fold({
  name,
  isOpenAtFirst = false,
  summary,
  aside,
  className,
  children,
}: {
  /** Unique within its `FoldMemory`. */
  readonly name: string
  readonly isOpenAtFirst?: boolean
  readonly summary: ReactNode
  /** Shown at the end of the heading, next to the button. */
  readonly aside?: ReactNode
  readonly className?: string | undefined
  readonly children: () => ReactNode
}) {
  const id = useId()
  const [isOpen, toggle] = useFold(name, isOpenAtFirst)
  return (
    <div className={className}>
      <div className={styles['line']}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          className={styles['head']}
          onClick={toggle}
        >
          <ChevronRight aria-hidden className={styles['sign']} />
          <span className={styles['summary']}>{summary}</span>
        </button>
        {aside}
      </div>
      {isOpen && (
        <div id={id} className={styles['body']}>
          {children()}
        </div>
      )}
    </div>
  )
}
