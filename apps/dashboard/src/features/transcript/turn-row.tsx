/** Shows one model call of a task: messages, failures and answer. */
import { GitFork } from 'lucide-react'
import { memo } from 'react'

import { describeEarlyEnd, formatDirective, TURN_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatCount, formatDuration, formatMoney } from '../../lib/format.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText } from '../../ui/show/json-view.tsx'
import { Text } from '../../ui/show/text.tsx'
import { GrowingText, Prose, ReasoningFold } from './texts.tsx'
import { toOneLine } from './text-blocks.ts'
import styles from './transcript.module.css'

import type { DirectiveState, TurnState, TurnFailure, LlmMessage } from '@tutti/protocol/internal'

/** A turn; `onChoose` selects it in the URL. */
export const TurnRow = memo(function TurnRow({
  turn,
  directives,
  isChosen,
  onChoose,
  onFork,
}: {
  readonly turn: TurnState
  /** Directives that this call received. */
  readonly directives: readonly DirectiveState[] | undefined
  readonly isChosen: boolean
  readonly onChoose: (iterationIndex: number) => void
  /** Forks the run so that this call is made again; undefined if that is not possible. */
  readonly onFork: ((iterationIndex: number) => void) | undefined
}) {
  const { iterationIndex, status, model, failures } = turn
  const ended = describeEarlyEnd(turn.finishReason)
  const { mark, word } =
    ended === undefined ? TURN_STATUS[status] : { mark: 'failed' as const, word: ended }
  const title = `Model call ${iterationIndex + 1}`
  return (
    <article aria-label={title} className={cx(styles['turn'], isChosen && styles['chosen'])}>
      <header className={cx(styles['line'], styles['wrapping'])}>
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
        {onFork !== undefined && (
          <IconButton
            label={`Fork from model call ${iterationIndex + 1}`}
            icon={<GitFork />}
            className={styles['icon']}
            onClick={() => onFork(iterationIndex)}
          />
        )}
        <TurnFigures turn={turn} />
      </header>
      {failures.length > 0 && <TurnFailures failures={failures} isAgain={status !== 'FAILED'} />}
      {directives?.map((directive) => (
        <p key={directive.directiveId} className={styles['directive']}>
          <span className={styles['strong']}>Directive: </span>
          {formatDirective(directive)}
          {directive.from !== undefined && (
            <span className={styles['soft']}> from {directive.from}</span>
          )}
        </p>
      ))}
      <ShownMessages turn={turn} />
      <ReasoningFold turn={turn} />
      {ended !== undefined && (
        <p className={styles['directive']}>
          <span className={styles['strong']}>{ended}</span>
          {turn.refusal !== undefined && `: ${turn.refusal}`}
        </p>
      )}
      <div className={styles['answer']}>
        <AnswerText turn={turn} />
      </div>
    </article>
  )
})

function TurnFigures({ turn }: { readonly turn: TurnState }) {
  const { startedAt, latencyMs, inputTokens, outputTokens, costUsd, status } = turn
  const isOver = status === 'COMPLETED'
  return (
    <span className={styles['figures']}>
      <span title="Started at">
        {startedAt !== undefined && formatClock(Date.parse(startedAt))}
      </span>
      <span className={styles['amount']} title="Time to the complete answer">
        {status === 'RUNNING' ? (
          <Elapsed since={startedAt} ms={undefined} />
        ) : (
          formatDuration(latencyMs)
        )}
      </span>
      <span className={styles['tokens']} title={describeTokens(turn)}>
        {isOver && `${formatCount(inputTokens)} in ${formatCount(outputTokens)} out`}
      </span>
      <span className={styles['amount']} title="Cost">
        {isOver && formatMoney(costUsd)}
      </span>
    </span>
  )
}

function describeTokens({ cachedInputTokens = 0, reasoningTokens = 0 }: TurnState): string {
  const cached = cachedInputTokens === 0 ? '' : `${formatCount(cachedInputTokens)} cached`
  const reasoned = reasoningTokens === 0 ? '' : `${formatCount(reasoningTokens)} for reasoning`
  const parts = [cached, reasoned].filter((part) => part !== '').join(', ')
  return parts === '' ? 'Input and output tokens' : `Input and output tokens (${parts})`
}

function AnswerText({ turn }: { readonly turn: TurnState }) {
  const { status, text, iterationIndex, toolCalls, finishReason } = turn
  if (status === 'RUNNING') {
    if (text === '') return <p className={styles['small']}>No text yet</p>
    return <GrowingText text={text} whole="the answer is complete" />
  }
  if (text !== '') {
    return (
      <>
        {status === 'FAILED' && <p className={styles['small']}>Text before the failure:</p>}
        <Prose name={`answer-${iterationIndex}`} label="answer" text={text} />
      </>
    )
  }
  if (status === 'FAILED' || toolCalls.length > 0 || describeEarlyEnd(finishReason)) return null
  return <p className={styles['small']}>The answer contains no text</p>
}

interface TurnFailuresProps {
  readonly failures: readonly TurnFailure[]
  readonly isAgain: boolean
}

/** The failures in order; `isAgain` is whether another call followed the last one. */
function TurnFailures({ failures, isAgain }: TurnFailuresProps) {
  return (
    <ul aria-label="Failed calls" className={styles['failures']}>
      {failures.map((failure, at) => (
        // Failures are only appended, so the index is stable.
        <li key={`${at}-${failure.failedAt}`}>
          <Mark kind="failed" label="Failed" />
          <span className={styles['failureText']}>
            <span className={styles['failed']}>{failure.reason}</span> <code>{failure.code}</code>
            <span className={cx(styles['next'], styles['quiet'])}>
              {describeReaction(failure, isAgain || at < failures.length - 1)}
            </span>
          </span>
          <span className={cx(styles['when'], styles['quiet'])}>
            {formatClock(Date.parse(failure.failedAt))} after {formatDuration(failure.latencyMs)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Describes the reaction to a failed call. */
function describeReaction(
  { model, retryInMs, retryAfterMs, nextModel }: TurnFailure,
  isAgain: boolean,
): string {
  const hint =
    retryAfterMs === undefined || retryInMs !== undefined
      ? ''
      : `; the provider asks to wait ${formatDuration(retryAfterMs)}`
  if (nextModel !== undefined) return `${model} → ${nextModel}: falls back${hint}`
  if (retryInMs === undefined) return `${model}: not retried${hint}`
  const wait = formatDuration(retryInMs)
  return isAgain ? `${model}: retried after ${wait}` : `${model}: retry in ${wait}`
}

const ROLES: Readonly<Record<LlmMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Model',
  tool: 'Tool',
}

/** The messages, folded; a message is rendered when it is unfolded. */
function ShownMessages({ turn }: { readonly turn: TurnState }) {
  const { iterationIndex, messages, totalMessageCount } = turn
  if (messages.length === 0) return null
  const first = totalMessageCount - messages.length
  const name = `messages-${iterationIndex}`
  const count =
    first > 0
      ? `the last ${messages.length} of ${formatCount(totalMessageCount)} messages`
      : `${messages.length} messages`
  return (
    <Fold name={name} summary={<span className={styles['quiet']}>Sent {count}</span>}>
      {() => (
        <ol start={first + 1}>
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
        <span className={cx(styles['line'], styles['quiet'])}>
          <span className={styles['messageRole']}>{toolName ?? ROLES[role]}</span>
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
              <JsonText text={call.arguments} label={`arguments of ${call.name}`} />
            </div>
          ))}
        </div>
      )}
    </Fold>
  )
}

function Whole({ role, content }: { readonly role: LlmMessage['role']; readonly content: string }) {
  if (role === 'tool') return <JsonText text={content} label="message" />
  return <Text>{content}</Text>
}
