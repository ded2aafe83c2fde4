/** One model call of a task: what it was shown, how it went, and its words. */
import { memo } from 'react'

import { describeEarlyEnd, TURN_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import {
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatBytes,
} from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText } from '../../ui/show/json-view.tsx'
import { Text } from '../../ui/show/text.tsx'
import { Prose } from './prose.tsx'
import { newestBlocks } from './text-blocks.ts'
import { toOneLine } from './text-shape.ts'
import styles from './turn-row.module.css'

import type { DirectiveState, TurnState, TurnFailure, LlmMessage } from '@tutti/protocol'

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
  const ended = describeEarlyEnd(turn.finishReason)
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
  if (status === 'FAILED' || toolCalls.length > 0 || describeEarlyEnd(finishReason)) return null
  return <p className={styles['soft']}>It answered without words</p>
}

/** The failures in order; `isAgain` when the last one was followed by another call. */
function TurnFailures({
  failures,
  isAgain,
}: {
  readonly failures: readonly TurnFailure[]
  readonly isAgain: boolean
}) {
  return (
    <ul aria-label="Failed calls" className={styles['failures']}>
      {failures.map((failure, at) => (
        // A turn only gains failures.
        <li key={`${at}-${failure.failedAt}`}>
          <Mark kind="failed" label="Failed" />
          <span className={styles['turnFailuresWords']}>
            <span className={styles['reason']}>{failure.reason}</span>{' '}
            <code className={styles['code']}>{failure.code}</code>
            <span className={styles['next']}>
              {nextOf(failure, isAgain || at < failures.length - 1)}
            </span>
          </span>
          <span className={styles['when']}>
            {formatClock(Date.parse(failure.failedAt))} after {formatDuration(failure.latencyMs)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** What came, or comes, after a failed call. */
function nextOf(
  { model, retryInMs, retryAfterMs, nextModel }: TurnFailure,
  isAgain: boolean,
): string {
  const asked =
    retryAfterMs === undefined || retryInMs !== undefined
      ? ''
      : `; it asks to wait ${formatDuration(retryAfterMs)}`
  if (nextModel !== undefined) return `${model} → ${nextModel}: the fallback is asked next${asked}`
  if (retryInMs === undefined) return `${model}: not asked again${asked}`
  const wait = formatDuration(retryInMs)
  return isAgain ? `${model} was asked again after ${wait}` : `${model} is asked again in ${wait}`
}

/** The text of a model call that still answers. */
function GrowingText({ text }: { readonly text: string }) {
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

const ROLES: Readonly<Record<LlmMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Model',
  tool: 'Tool',
}

/** The messages, folded; a message is made when it is unfolded. */
function ShownMessages({
  turn: { iterationIndex, messages, totalMessageCount },
}: {
  readonly turn: TurnState
}) {
  if (messages.length === 0) return null
  const first = totalMessageCount - messages.length
  const name = `messages-${iterationIndex}`
  const count =
    first > 0
      ? `the last ${messages.length} of ${formatCount(totalMessageCount)} messages`
      : `${messages.length} messages`
  return (
    <Fold
      name={name}
      className={styles['messages']}
      summary={<span className={styles['quiet']}>Was shown {count}</span>}
    >
      {() => (
        <ol start={first + 1} className={styles['list']}>
          {messages.map((message, at) => (
            <li key={first + at}>
              <Message name={`${name}-${at}`} message={message} />
            </li>
          ))}
        </ol>
      )}
    </Fold>
  )
}

function Message({ name, message }: { readonly name: string; readonly message: LlmMessage }) {
  const { role, content, toolCalls, toolName } = message
  const calls = toolCalls ?? []
  const gist = [content ?? '', ...calls.map((call) => `${call.name}(${call.arguments})`)]
  return (
    <Fold
      name={name}
      summary={
        <span className={styles['message']}>
          <span className={styles['role']}>{toolName ?? ROLES[role]}</span>
          <span className={styles['gist']}>{toOneLine(gist.filter(Boolean).join(' '))}</span>
        </span>
      }
    >
      {() => (
        <div className={styles['whole']}>
          {content !== null && content !== '' && <Whole role={role} content={content} />}
          {calls.map((call, at) => (
            <div key={call.id ?? at}>
              <code>{call.name}</code>
              <JsonText text={call.arguments} label={`the arguments of ${call.name}`} />
            </div>
          ))}
        </div>
      )}
    </Fold>
  )
}

function Whole({ role, content }: { readonly role: LlmMessage['role']; readonly content: string }) {
  if (role === 'tool') return <JsonText text={content} label="the message" />
  return <Text>{content}</Text>
}
