/** One model call of a task: what it was shown, how it went, and its words. */
import { memo } from 'react'

import { earlyEnd, TURN_STATUS } from '../../api/words.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatCount, formatDuration, formatMoney } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { GrowingText } from './growing-text.tsx'
import { ShownMessages } from './shown-messages.tsx'
import { Prose } from './prose.tsx'
import { TurnFailures } from './turn-failures.tsx'
import styles from './turn-row.module.css'

import type { DirectiveState, TurnState } from '@tutti/protocol'

/** A turn; `onChoose` makes it the place that the address names. */
export const TurnRow = memo(function TurnRow({
  turn,
  directives,
  isChosen,
  onChoose,
}: {
  readonly turn: TurnState
  /** Those that this call was shown first. */
  readonly directives: readonly DirectiveState[] | undefined
  readonly isChosen: boolean
  readonly onChoose: (iterationIndex: number) => void
}) {
  const { iterationIndex, status, model, failures } = turn
  const ended = earlyEnd(turn.finishReason)
  const { mark, word } =
    ended === undefined ? TURN_STATUS[status] : { mark: 'failed' as const, word: ended }
  const title = `Model call ${iterationIndex + 1}`
  return (
    <article aria-label={title} className={cx(styles['turn'], isChosen && styles['chosen'])}>
      <header className={styles['head']}>
        <Mark kind={mark} label={word} />
        <h3>
          <button
            type="button"
            aria-current={isChosen || undefined}
            className={styles['title']}
            onClick={() => onChoose(iterationIndex)}
          >
            {title}
          </button>
        </h3>
        <span className={styles['model']}>{model}</span>
        <TurnFigures turn={turn} />
      </header>
      {failures.length > 0 && <TurnFailures failures={failures} isAgain={status !== 'FAILED'} />}
      {directives?.map(({ directiveId, from, content, action, value }) => (
        <p key={directiveId} className={styles['directive']}>
          <span className={styles['label']}>Directive: </span>
          {content ?? [action, value].filter(Boolean).join(' ')}
          {from !== undefined && <span className={styles['from']}> from {from}</span>}
        </p>
      ))}
      <ShownMessages turn={turn} />
      {ended !== undefined && (
        <p className={styles['directive']}>
          <span className={styles['label']}>{ended}</span>
          {turn.refusal !== undefined && `: ${turn.refusal}`}
        </p>
      )}
      <div className={styles['words']}>
        <Words turn={turn} />
      </div>
    </article>
  )
})

function TurnFigures({ turn }: { readonly turn: TurnState }) {
  const { startedAt, latencyMs, inputTokens, outputTokens, costUsd, status } = turn
  const cached = turn.cachedInputTokens ?? 0
  const isOver = status === 'COMPLETED'
  return (
    <span className={styles['figures']}>
      <span title="Asked at">{startedAt !== undefined && formatClock(Date.parse(startedAt))}</span>
      <span className={styles['span']} title="Until the answer was whole">
        {status === 'RUNNING' ? (
          <Elapsed since={startedAt} ms={undefined} />
        ) : (
          formatDuration(latencyMs)
        )}
      </span>
      <span
        className={styles['tokens']}
        title={
          cached === 0
            ? 'Tokens read and written'
            : `Tokens read and written; ${formatCount(cached)} of those read came from a cache`
        }
      >
        {isOver && `${formatCount(inputTokens)} in ${formatCount(outputTokens)} out`}
      </span>
      <span className={styles['cost']} title="Cost">
        {isOver && formatMoney(costUsd)}
      </span>
    </span>
  )
}

function Words({
  turn: { status, text, iterationIndex, toolCalls, finishReason },
}: {
  readonly turn: TurnState
}) {
  if (status === 'RUNNING') {
    if (text === '') return <p className={styles['soft']}>No words yet</p>
    return <GrowingText text={text} />
  }
  if (text !== '') {
    return (
      <>
        {status === 'FAILED' && <p className={styles['soft']}>What it had said until then:</p>}
        <Prose name={`answer-${iterationIndex}`} label="the answer" text={text} />
      </>
    )
  }
  if (status === 'FAILED' || toolCalls.length > 0 || earlyEnd(finishReason)) return null
  return <p className={styles['soft']}>It answered without words</p>
}
