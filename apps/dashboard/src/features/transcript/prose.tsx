/** Words of a model or a person, drawn as what they are; the reader can have them as they came, and copy them. */
import { useMemo } from 'react'

import { jsonOf } from '../../lib/json-of.ts'
import { useFold } from '../../ui/layout/fold.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import styles from './prose.module.css'

/** A text; `name` is unique in its transcript, `label` says what it is. */
export function Prose({
  name,
  label,
  text,
}: {
  readonly name: string
  readonly label: string
  readonly text: string
}) {
  const [isRaw, toggle] = useFold(`raw-${name}`)
  const value = useMemo(() => jsonOf(text), [text])
  return (
    <div className={styles['prose']}>
      <div className={styles['words']}>
        {!isRaw && value !== undefined ? (
          <JsonView value={value} label={label} />
        ) : (
          <Text kind={isRaw ? 'code' : 'markdown'}>{text}</Text>
        )}
      </div>
      <div className={styles['tools']}>
        <button
          type="button"
          aria-pressed={isRaw}
          aria-label={`Raw: ${label} as it came`}
          className={styles['raw']}
          onClick={toggle}
        >
          Raw
        </button>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
    </div>
  )
}
