/** Shows a tool call or a step of one; it unfolds to input and output. */
import { memo } from 'react'

import { CALL_STATUS, AGENT_CALL_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatMoney, formatPlural } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { WorkTime } from '../../ui/show/time.tsx'
import { toOneLine } from './text-blocks.ts'
import styles from './transcript.module.css'

import type { CallTree } from '../../api/run-entries.ts'
import type { AgentCallState, ToolCallState } from '@tutti/protocol/internal'

interface CallProps {
  /** Unique within the transcript. */
  readonly name: string
  readonly tree: CallTree
}

export const CallRow = memo(function CallRow({
  isChosen,
  ...rest
}: CallProps & { readonly isChosen: boolean }) {
  return (
    <div className={cx(styles['call'], isChosen && styles['chosen'])}>
      <Call {...rest} isOpenAtFirst={isChosen} />
    </div>
  )
})

function Call({
  name,
  tree: { entry, below },
  isOpenAtFirst = false,
}: CallProps & { readonly isOpenAtFirst?: boolean }) {
  if (entry.kind !== 'tool') return null
  const { call } = entry
  const { status, progress } = call
  const { mark, word } = CALL_STATUS[status]
  const agents = below.flatMap(({ entry: one }) => (one.kind === 'agent' ? [one.agentCall] : []))
  const isRunning = status === 'RUNNING'
  return (
    <article aria-label={`Tool call ${call.name}`}>
      <Fold
        name={name}
        isOpenAtFirst={isOpenAtFirst}
        summary={
          <span className={styles['line']}>
            <Mark kind={mark} label={word} />
            <span className={styles['toolName']}>{call.name}</span>
            <span className={styles['gist']}>{toOneLine(call.arguments ?? '')}</span>
            <span className={cx(styles['figure'], styles['span'])}>
              <WorkTime work={call} />
            </span>
          </span>
        }
      >
        {() => <CallDetails name={name} call={call} below={below} />}
      </Fold>
      {isRunning && progress !== undefined && <Progress label={call.name} {...progress} />}
      {agents.length > 0 && (
        <ul aria-label="Agent calls" className={styles['agents']}>
          {agents.map((agentCall) => (
            <AgentCall key={agentCall.retryIndex} call={agentCall} />
          ))}
        </ul>
      )}
    </article>
  )
}

function CallDetails({
  name,
  call,
  below,
}: Pick<CallTree, 'below'> & { readonly name: string; readonly call: ToolCallState }) {
  const { status, arguments: input, result, structured, startedAt, id } = call
  const steps = below.filter(({ entry }) => entry.kind === 'tool')
  return (
    <dl className={styles['details']}>
      <dt>Input</dt>
      <dd>
        {input === null ? (
          <Absent>unknown</Absent>
        ) : (
          <JsonText text={input} label={`input of ${call.name}`} />
        )}
      </dd>
      {steps.length > 0 && (
        <>
          <dt>Steps</dt>
          <dd>
            {steps.map((tree, at) => (
              // Steps are only appended, so the index is stable.
              <Call key={`${at}`} name={`${name}/${at}`} tree={tree} />
            ))}
          </dd>
        </>
      )}
      <dt>Output</dt>
      <dd>
        {typeof result === 'string' ? (
          <JsonText text={result} label={`output of ${call.name}`} />
        ) : (
          <Absent>{WITHOUT_RESULT[status]}</Absent>
        )}
      </dd>
      {structured !== undefined && structured !== null && (
        <>
          <dt>Structured output</dt>
          <dd>
            <JsonView value={structured} label={`structured output of ${call.name}`} />
          </dd>
        </>
      )}
      <dt>Call</dt>
      <dd className={styles['detail']}>
        <code>{id}</code>
        {startedAt !== undefined && ` started ${formatClock(Date.parse(startedAt))}`}
      </dd>
    </dl>
  )
}

/** Placeholders for a missing output. */
const WITHOUT_RESULT: Readonly<Record<ToolCallState['status'], string>> = {
  RUNNING: 'pending',
  SUCCEEDED: 'none',
  FAILED: 'none: the call was interrupted',
}

function Absent({ children }: { readonly children: string }) {
  return <span className={styles['detail']}>{children}</span>
}

function AgentCall({ call }: { readonly call: AgentCallState }) {
  const { mark, word } = AGENT_CALL_STATUS[call.status]
  const { mode, protocol, chunks, turns, costUsd, error } = call
  const facts = [
    ...(call.retryIndex > 0 ? [`attempt ${call.retryIndex + 1}`] : []),
    mode,
    protocol,
    ...(mode === 'streaming' || chunks > 0 ? [formatPlural(chunks, 'chunk')] : []),
    ...(mode === 'conversational' ? [formatPlural(turns, 'turn')] : []),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
  ]
  return (
    <li className={cx(styles['agent'], styles['line'], styles['wrapping'], styles['quiet'])}>
      <Mark kind={mark} />
      <span>{word}</span>
      <code className={styles['address']} title={call.agentUri}>
        {call.agentUri}
      </code>
      <span className={styles['facts']}>{facts.join(' · ')}</span>
      <span className={styles['figure']}>
        <WorkTime work={call} />
      </span>
      {error !== undefined && <p className={styles['failure']}>{error}</p>}
    </li>
  )
}

/** The progress message, and a bar if the fraction is known. */
function Progress({
  label,
  message,
  fraction,
}: {
  readonly label: string
  readonly message: string
  readonly fraction?: number
}) {
  const percent = fraction === undefined ? undefined : Math.round(fraction * 100)
  return (
    <div className={cx(styles['progress'], styles['line'], styles['quiet'])}>
      {percent !== undefined && (
        <div
          role="progressbar"
          aria-label={`Progress of ${label}`}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
          className={styles['bar']}
        >
          <div style={{ inlineSize: `${percent}%` }} />
        </div>
      )}
      <span className={styles['breakable']}>
        {percent !== undefined && `${percent} % `}
        {message}
      </span>
    </div>
  )
}
