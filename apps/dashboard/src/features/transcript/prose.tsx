/**
 * Renders text of a model or a person as Markdown or JSON. The reader can switch to the raw text
 * and copy it.
 */
import { useMemo } from 'react'

import { parseJsonContainer } from '../../lib/parse-json-container.ts'
import { useFold } from '../../ui/layout/fold.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import styles from './transcript.module.css'

interface ProseProps {
  readonly name: string
  readonly label: string
  readonly text: string
}

/** A text; `name` is unique within the transcript, `label` names the text. */
export function Prose({ name, label, text }: ProseProps) {
  const [isRaw, toggle] = useFold(`raw-${name}`)
  const value = useMemo(() => parseJsonContainer(text), [text])
  return (
    <div className={styles['prose']}>
      <div>
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
          aria-label={`Raw ${label}`}
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
