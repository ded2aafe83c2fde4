/** One tool call, or a step of one: a line that unfolds to what went in and what came out. */
import { memo } from 'react'

import { CALL_STATUS, AGENT_CALL_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatMoney, plural } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { toOneLine } from './text-shape.ts'
import styles from './call-row.module.css'

import type { AgentCallState, ToolCallState } from '@tutti/protocol'

/** Calls to other agents by the tool call that made them. */
export type AgentsByCall = ReadonlyMap<string, readonly AgentCallState[]>

interface CallProps {
  /** Unique in its transcript. */
  readonly name: string
  readonly call: ToolCallState
  readonly agents: AgentsByCall
}

export const CallRow = memo(function CallRow({
  isChosen,
  ...rest
}: CallProps & { readonly isChosen: boolean }) {
  return (
    <div className={cx(styles['row'], isChosen && styles['chosen'])}>
      <Call {...rest} isOpenAtFirst={isChosen} />
    </div>
  )
})

function Call({
  name,
  call,
  agents,
  isOpenAtFirst = false,
}: CallProps & { readonly isOpenAtFirst?: boolean }) {
  const { mark, word } = CALL_STATUS[call.status]
  const asked = agents.get(call.id) ?? []
  return (
    <article aria-label={`Tool call ${call.name}`}>
      <Fold
        name={name}
        isOpenAtFirst={isOpenAtFirst}
        summary={
          <span className={styles['line']}>
            <Mark kind={mark} label={word} />
            <span className={styles['name']}>{call.name}</span>
            <span className={styles['gist']}>{toOneLine(call.arguments ?? '')}</span>
            <CallSpan call={call} />
          </span>
        }
      >
        {() => <CallDetails name={name} call={call} agents={agents} />}
      </Fold>
      {call.status === 'RUNNING' && call.progress !== undefined && (
        <Progress label={call.name} {...call.progress} />
      )}
      {asked.length > 0 && <AgentCalls calls={asked} />}
    </article>
  )
}

function CallSpan({ call: { status, startedAt, durationMs } }: { readonly call: ToolCallState }) {
  return (
    <span className={styles['span']}>
      {status === 'RUNNING' ? (
        <Elapsed since={startedAt} ms={undefined} />
      ) : (
        <Elapsed since={undefined} ms={durationMs} />
      )}
    </span>
  )
}

function CallDetails({ name, call, agents }: CallProps) {
  const { status, arguments: input, result, structured, steps, startedAt, id } = call
  return (
    <dl className={styles['details']}>
      <dt>Input</dt>
      <dd>
        {input === null ? (
          <Absent>not known</Absent>
        ) : (
          <JsonText text={input} label={`the input of ${call.name}`} />
        )}
      </dd>
      {steps.length > 0 && (
        <>
          <dt>Steps</dt>
          <dd>
            {steps.map((step) => (
              <Call key={step.id} name={`${name}/${step.id}`} call={step} agents={agents} />
            ))}
          </dd>
        </>
      )}
      <dt>Output</dt>
      <dd>
        {typeof result === 'string' ? (
          <JsonText text={result} label={`the output of ${call.name}`} />
        ) : (
          <Absent>{WITHOUT_RESULT[status]}</Absent>
        )}
      </dd>
      {structured !== undefined && structured !== null && (
        <>
          <dt>Value</dt>
          <dd>
            <JsonView value={structured} label={`the value of ${call.name}`} />
          </dd>
        </>
      )}
      <dt>Call</dt>
      <dd className={styles['id']}>
        <code>{id}</code>
        {startedAt !== undefined && ` began ${formatClock(Date.parse(startedAt))}`}
      </dd>
    </dl>
  )
}

/** What stands for an output that is not there. */
const WITHOUT_RESULT: Readonly<Record<ToolCallState['status'], string>> = {
  RUNNING: 'not there yet',
  SUCCEEDED: 'none',
  FAILED: 'none: it was cut off',
}

function Absent({ children }: { readonly children: string }) {
  return <span className={styles['absent']}>{children}</span>
}

/** The tries of a call, in order. */
function AgentCalls({ calls }: { readonly calls: readonly AgentCallState[] }) {
  return (
    <ul aria-label="Calls to another agent" className={styles['calls']}>
      {calls.map((call) => (
        <AgentCall key={call.retryIndex} call={call} />
      ))}
    </ul>
  )
}

function AgentCall({ call }: { readonly call: AgentCallState }) {
  const { mark, word } = AGENT_CALL_STATUS[call.status]
  const { status, startedAt, completedAt, mode, protocol, chunks, turns, costUsd, error } = call
  const brought = [
    ...(call.retryIndex > 0 ? [`try ${call.retryIndex + 1}`] : []),
    mode,
    protocol,
    ...(mode === 'streaming' || chunks > 0 ? [plural(chunks, 'chunk')] : []),
    ...(mode === 'conversational' ? [plural(turns, 'turn')] : []),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
  ]
  return (
    <li className={styles['call']}>
      <Mark kind={mark} />
      <span>{word}</span>
      <code className={styles['address']} title={call.agentUri}>
        {call.agentUri}
      </code>
      <span className={styles['facts']}>{brought.join(' · ')}</span>
      <span className={styles['agentCallsSpan']}>
        <Elapsed
          since={startedAt}
          ms={status === 'RUNNING' ? null : spanOf(startedAt, completedAt)}
        />
      </span>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
    </li>
  )
}

/** NaN is a span that is over and not known. */
function spanOf(startedAt: string | undefined, completedAt: string | undefined): number {
  return Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '')
}

/** The words, and a bar when it knows how much is done. */
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
    <div className={styles['progress']}>
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
      <span className={styles['words']}>
        {percent !== undefined && `${percent} % `}
        {message}
      </span>
    </div>
  )
}
