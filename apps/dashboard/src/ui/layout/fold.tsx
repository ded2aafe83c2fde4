/**
 * Something that unfolds below its heading. Rows of a long list leave the page while they are out of sight,
 * so which of them are open is remembered by a `FoldMemory` around the list.
 */
import { ChevronRight } from 'lucide-react'
import { createContext, useContext, useId, useSyncExternalStore, type ReactNode } from 'react'

import { createStore, type Store } from '../../lib/store.ts'
import styles from './fold.module.css'

/** Which folds the reader has opened (`true`) or closed (`false`), by name. */
export type Folds = Store<ReadonlyMap<string, boolean>>

/** The folds of a part of the page. */
export const FoldMemory = createContext<Folds>(newFolds())

/** A memory of no folds. */
export function newFolds(): Folds {
  return createStore<ReadonlyMap<string, boolean>>(new Map())
}

/** Whether a fold is open, and a function that opens or closes it. */
export function useFold(name: string, isOpenAtFirst = false): readonly [boolean, () => void] {
  const folds = useContext(FoldMemory)
  const isOpen = useSyncExternalStore(folds.follow, () => folds.get().get(name) ?? isOpenAtFirst)
  return [isOpen, () => folds.set(new Map(folds.get()).set(name, !isOpen))]
}

/** A heading that opens and closes what is below it, which is made only while it is open. */
export function Fold({
  name,
  isOpenAtFirst = false,
  summary,
  aside,
  className,
  children,
}: {
  /** Unique in its `FoldMemory`. */
  readonly name: string
  readonly isOpenAtFirst?: boolean
  readonly summary: ReactNode
  /** At the end of the line, beside the button. */
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
