/** Shows the difference of two texts. Signs mark changes in addition to colors. */
import { diffLines, diffWordsWithSpace } from 'diff'

import styles from './diff-view.module.css'

/** Maximum length, in characters, for a diff by words; longer texts are compared by lines. */
const MAX_FOR_WORDS = 20_000

/** Shows the changes from `before` to `after`. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  const isShort = before.length + after.length <= MAX_FOR_WORDS
  const parts = isShort ? diffWordsWithSpace(before, after) : diffLines(before, after)
  return (
    <div className={styles['diff']} role="group" aria-label="Changes">
      {parts.map((part, index) => {
        // Parts have no identity other than their index; the list is computed again on each change.
        const key = `${index}`
        if (part.added) return <ins key={key}>{part.value}</ins>
        if (part.removed) return <del key={key}>{part.value}</del>
        return <span key={key}>{part.value}</span>
      })}
    </div>
  )
}
