/** Texts of models and persons: complete ones, those that are being written, and reasoning. */
import { memo, useMemo } from 'react'

import { formatBytes, formatCount } from '../../lib/format.ts'
import { parseJsonContainer } from '../../lib/parse-json-container.ts'
import { Fold, useFold } from '../../ui/layout/fold.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { cx } from '../../lib/cx.ts'
import { takeNewestBlocks, toLastLine } from './text-blocks.ts'
import styles from './transcript.module.css'

import type { TurnState } from '@tutti/protocol/internal'

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

/** The reasoning of a turn. While the call runs, its newest line is visible without unfolding it. */
export function ReasoningFold({ turn }: { readonly turn: TurnState }) {
  const { iterationIndex, status, reasoning, reasoningTruncated } = turn
  if (reasoning === undefined) return null
  const name = `reasoning-${iterationIndex}`
  const isGrowing = status === 'RUNNING'
  return (
    <Fold
      name={name}
      className={styles['reasoning']}
      summary={
        <span className={cx(styles['line'], styles['quiet'])}>
          <span>Reasoning</span>
          <span className={styles['gist']}>
            {isGrowing ? toLastLine(reasoning) : describeSize(turn)}
          </span>
        </span>
      }
    >
      {() => (
        <>
          {isGrowing ? (
            <GrowingText text={reasoning} whole="the call is complete" />
          ) : (
            <Prose name={name} label="reasoning" text={reasoning} />
          )}
          {reasoningTruncated === true && (
            <p className={styles['small']}>The rest of the reasoning was too long to be stored</p>
          )}
        </>
      )}
    </Fold>
  )
}

function describeSize({ status, reasoningTokens }: TurnState): string {
  if (status === 'FAILED') return 'before the failure'
  return reasoningTokens === undefined ? '' : `${formatCount(reasoningTokens)} tokens`
}
