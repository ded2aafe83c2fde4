/** Shows the difference of two texts. Signs mark changes in addition to colors. */
import { findDiffParts, type DiffPart } from './diff-parts.ts'
import styles from './diff-view.module.css'

/** Shows the changes from `before` to `after` in one text. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <div className={styles['diff']} role="group" aria-label="Changes">
      {renderParts(findDiffParts(before, after))}
    </div>
  )
}

interface DiffColumnsProps {
  readonly before: string
  readonly after: string
  /** Names the texts, such as `output`. */
  readonly label: string
}

/** Shows both texts next to each other, or one above the other on narrow screens, with the changes of each. */
export function DiffColumns({ before, after, label }: DiffColumnsProps) {
  const parts = findDiffParts(before, after)
  return (
    <div className={styles['columns']}>
      {(['removed', 'added'] as const).map((change) => (
        <div
          key={change}
          data-letter={change === 'removed' ? 'A' : 'B'}
          className={styles['diff']}
          role="group"
          aria-label={`${change === 'removed' ? 'A' : 'B'}: ${label}`}
        >
          {renderParts(parts.filter((part) => part.change === undefined || part.change === change))}
        </div>
      ))}
    </div>
  )
}

function renderParts(parts: readonly DiffPart[]) {
  return parts.map(({ value, change }, index) => {
    // Parts have no identity other than their index; the list is computed again on each change.
    const key = `${index}`
    if (change === 'added') return <ins key={key}>{value}</ins>
    if (change === 'removed') return <del key={key}>{value}</del>
    return <span key={key}>{value}</span>
  })
}
