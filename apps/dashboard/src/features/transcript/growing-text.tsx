/** Text as it comes. A block that is whole is drawn once; only the last one changes. */
import { memo } from 'react'

import { formatBytes } from '../../lib/format.ts'
import styles from './growing-text.module.css'
import { newestBlocks } from './text-blocks.ts'

/** The text of a model call that still answers. */
export function GrowingText({ text }: { readonly text: string }) {
  const { hidden, blocks } = newestBlocks(text)
  return (
    <div className={styles['text']}>
      {hidden > 0 && (
        <p className={styles['hidden']}>
          {`${formatBytes(hidden)} before this are shown when the answer is whole`}
        </p>
      )}
      {blocks.map(({ start, text: part }) => (
        <Block key={start} text={part} />
      ))}
    </div>
  )
}

const Block = memo(function Block({ text }: { readonly text: string }) {
  return <div>{text}</div>
})
