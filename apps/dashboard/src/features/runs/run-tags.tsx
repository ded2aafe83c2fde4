/** The tags of a run: each is a button that shows the runs that have it. */
import styles from './run-tags.module.css'

import type { TagMap } from '@tutti/protocol'

/** Tags that are shown; the rest is on the page of the run. */
const SHOWN = 2

/** The first tags of a run. */
export function RunTags({
  tags,
  onTag,
}: {
  readonly tags: Readonly<TagMap>
  readonly onTag: (tag: string) => void
}) {
  const entries = Object.entries(tags)
  return (
    <>
      {entries.slice(0, SHOWN).map(([key, value]) => (
        <button
          key={key}
          type="button"
          // The search finds tags too; two more stops a row would make a long list slow to walk.
          tabIndex={-1}
          className={styles['tag']}
          aria-label={`Only runs with the tag ${key}: ${value}`}
          title={`${key}: ${value}`}
          onClick={() => onTag(`${key}:${value}`)}
        >
          <span className={styles['key']}>{key}</span> {String(value)}
        </button>
      ))}
      {entries.length > SHOWN && (
        <span className={styles['more']}>{`+${entries.length - SHOWN}`}</span>
      )}
    </>
  )
}
