/** What was taken out of a text and put in. Signs tell it as well as colours. */
import { diffLines, diffWordsWithSpace } from 'diff'

import styles from './diff-view.module.css'

/** Words of longer texts take too long to compare while somebody types. */
const MAX_FOR_WORDS = 20_000

/** The changes from `before` to `after`. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  const isShort = before.length + after.length <= MAX_FOR_WORDS
  const parts = isShort ? diffWordsWithSpace(before, after) : diffLines(before, after)
  return (
    <div className={styles['diff']} role="group" aria-label="Changes">
      {parts.map((part, index) => {
        // Parts have no identity but their place; the list is made anew each time.
        const key = `${index}`
        if (part.added) return <ins key={key}>{part.value}</ins>
        if (part.removed) return <del key={key}>{part.value}</del>
        return <span key={key}>{part.value}</span>
      })}
    </div>
  )
}
