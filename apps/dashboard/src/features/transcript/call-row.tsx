/** Shows a tool call or a step of one; it unfolds to input and output. */
import { memo } from 'react'

import { CALL_STATUS, AGENT_CALL_STATUS } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock, formatMoney, formatPlural } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { toOneLine } from './text-shape.ts'
import styles from './call-row.module.css'

import type { AgentCallState, ToolCallState } from '@tutti/protocol/internal'

/** Calls to other agents, by tool call. */
export type AgentsByCall = ReadonlyMap<string, readonly AgentCallState[]>

interface CallProps {
  /** Unique within the transcript. */
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
          <Absent>unknown</Absent>
        ) : (
          <JsonText text={input} label={`input of ${call.name}`} />
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
      <dd className={styles['id']}>
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
  return <span className={styles['absent']}>{children}</span>
}

/** The attempts of a call, in order. */
function AgentCalls({ calls }: { readonly calls: readonly AgentCallState[] }) {
  return (
    <ul aria-label="Agent calls" className={styles['calls']}>
      {calls.map((call) => (
        <AgentCall key={call.retryIndex} call={call} />
      ))}
    </ul>
  )
}

function AgentCall({ call }: { readonly call: AgentCallState }) {
  const { mark, word } = AGENT_CALL_STATUS[call.status]
  const { status, startedAt, completedAt, mode, protocol, chunks, turns, costUsd, error } = call
  const facts = [
    ...(call.retryIndex > 0 ? [`attempt ${call.retryIndex + 1}`] : []),
    mode,
    protocol,
    ...(mode === 'streaming' || chunks > 0 ? [formatPlural(chunks, 'chunk')] : []),
    ...(mode === 'conversational' ? [formatPlural(turns, 'turn')] : []),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
  ]
  return (
    <li className={styles['call']}>
      <Mark kind={mark} />
      <span>{word}</span>
      <code className={styles['address']} title={call.agentUri}>
        {call.agentUri}
      </code>
      <span className={styles['facts']}>{facts.join(' · ')}</span>
      <span className={styles['agentCallsSpan']}>
        <Elapsed
          since={startedAt}
          ms={status === 'RUNNING' ? null : computeSpan(startedAt, completedAt)}
        />
      </span>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
    </li>
  )
}

/** Returns the duration in milliseconds; NaN if it is over but unknown. */
function computeSpan(startedAt: string | undefined, completedAt: string | undefined): number {
  return Date.parse(completedAt ?? '') - Date.parse(startedAt ?? '')
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
