/** Shows a text that a model is writing. */
import { memo } from 'react'

import { formatBytes } from '../../lib/format.ts'
import { takeNewestBlocks } from './text-blocks.ts'
import styles from './transcript.module.css'

/** The newest part of a text; `whole` names the time at which all of it is shown. */
export function GrowingText({ text, whole }: { readonly text: string; readonly whole: string }) {
  const { hidden, blocks } = takeNewestBlocks(text)
  return (
    <div className={styles['growing']}>
      {hidden > 0 && (
        <p className={styles['small']}>
          {`The first ${formatBytes(hidden)} are shown when ${whole}`}
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
