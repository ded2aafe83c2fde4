/** One tool call, or a step of one: a line that unfolds to what went in and what came out. */
import { memo } from 'react'

import { CALL_STATUS } from '../../api/words.ts'
import { cx } from '../../lib/cx.ts'
import { formatClock } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { JsonText, JsonView } from '../../ui/show/json-view.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { AgentCalls } from './agent-calls.tsx'
import styles from './call-row.module.css'
import { Progress } from './progress.tsx'
import { oneLine } from './text-shape.ts'

import type { AgentCallState, ToolCallState } from '@tutti/protocol'

/** Calls to other agents by the tool call that made them. */
export type AgentsByCall = ReadonlyMap<string, readonly AgentCallState[]>

interface CallProps {
  /** Unique in its transcript. */
  readonly name: string
  readonly call: ToolCallState
  readonly agents: AgentsByCall
}

/** A tool call of a turn. */
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
            <span className={styles['gist']}>{oneLine(call.arguments ?? '')}</span>
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
