/** What people did with a run, and when it took effect. */
import { MessageSquare, Repeat2, Square } from 'lucide-react'
import { memo, useContext, useMemo, type ReactNode, lazy, Suspense, useState } from 'react'

import { formatClock, formatInstant, UNKNOWN, formatDuration } from '../../lib/format.ts'
import { ShownTime, useNow } from '../../lib/use-now.ts'
import { Empty, Loading } from '../../ui/feedback/notice.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Text } from '../../ui/show/text.tsx'
import { DECISION } from '../../ui/labels.ts'
import {
  steeringActs,
  type SteeringAct,
  type CancelAct,
  type Arrival,
  type DirectiveAct,
  type SwitchAct,
  type ReviewAct,
} from './steering-entries.ts'
import styles from './steering-log.module.css'

import type { RunState, ReviewState } from '@tutti/protocol'

import type { FollowedLog } from '../../api/run-log.ts'

/** Directives, model switches, decisions and cancels, newest last; with `log` also who and when. */
export function SteeringLog({
  state,
  log,
}: {
  readonly state: RunState
  readonly log?: FollowedLog | undefined
}) {
  const until = useContext(ShownTime)
  const acts = useMemo(() => steeringActs(state, log, until), [state, log, until])
  if (acts.length === 0) {
    return (
      <Empty title="Nobody has steered this run">
        Directives, model switches, reviews and cancels are listed here, with the moment at which
        each took effect.
      </Empty>
    )
  }
  return (
    // What scrolls can be scrolled with the keyboard.
    <ol className={styles['log']} aria-label="What people did" tabIndex={0}>
      {acts.map((act) => (
        <ActRow key={act.key} act={act} isOver={state.durationMs !== undefined} />
      ))}
    </ol>
  )
}

const ActRow = memo(function ActRow({
  act,
  isOver,
}: {
  readonly act: SteeringAct
  readonly isOver: boolean
}) {
  const { at } = act
  return (
    <li className={styles['act']}>
      <time
        className={styles['at']}
        dateTime={at === undefined ? undefined : new Date(at).toISOString()}
        title={at === undefined ? undefined : formatInstant(at)}
      >
        {/* A directive does not say when it was given, only what came before it. */}
        {act.kind === 'directive' && at !== undefined && <small>after </small>}
        {at === undefined ? UNKNOWN : formatClock(at).slice(0, 8)}
      </time>
      <span className={styles['icon']}>{iconOf(act)}</span>
      <div className={styles['body']}>{viewOf(act, isOver)}</div>
    </li>
  )
}, isSameRow)

/** Acts are made anew with each event; a row is drawn again only when it says something else. */
function isSameRow(
  one: { readonly act: SteeringAct; readonly isOver: boolean },
  other: { readonly act: SteeringAct; readonly isOver: boolean },
): boolean {
  return one.isOver === other.isOver && JSON.stringify(one.act) === JSON.stringify(other.act)
}

function iconOf(act: SteeringAct): ReactNode {
  switch (act.kind) {
    case 'directive':
      return <MessageSquare aria-hidden />
    case 'switch':
      return <Repeat2 aria-hidden />
    case 'cancel':
      return <Square aria-hidden />
    case 'review':
      return <Mark kind="held" />
  }
}

function viewOf(act: SteeringAct, isOver: boolean): ReactNode {
  switch (act.kind) {
    case 'directive':
      return <DirectiveActView act={act} isOver={isOver} />
    case 'switch':
      return <SwitchActView act={act} isOver={isOver} />
    case 'cancel':
      return <CancelActView act={act} />
    case 'review':
      return <ReviewActView act={act} />
  }
}

/** Who asked and how, and when the run had stopped. */
function CancelActView({ act }: { readonly act: CancelAct }) {
  const { by, mode } = act
  const how = mode === 'abort' ? 'stopping the work in flight' : 'letting running tasks finish'
  return (
    <>
      <p>
        <b>{by ?? 'Somebody'}</b>
        {` cancelled the run, ${how}`}
      </p>
      <p className={act.isOver ? styles['effect'] : styles['pending']}>
        {describeCancelEffect(act)}
      </p>
    </>
  )
}

function describeCancelEffect({ at, isOver, stoppedAt, endedOtherwise }: CancelAct): string {
  if (!isOver) return 'What is in flight is ending'
  const took = at === undefined || stoppedAt === undefined ? undefined : stoppedAt - at
  const after = took === undefined ? '' : `, ${formatDuration(took)} after`
  const when = stoppedAt === undefined ? '' : ` at ${formatClock(stoppedAt).slice(0, 8)}`
  if (endedOtherwise) return `The run ended${when}${after}: nothing was left to stop`
  return `Stopped${when}${after}`
}

/** What was said, by whom and to whom, and which model calls were shown it. */
function DirectiveActView({
  act,
  isOver,
}: {
  readonly act: DirectiveAct
  readonly isOver: boolean
}) {
  const { by, to, priority, expiresAt, arrivals } = act
  const isWaiting = arrivals.length === 0 && !isOver
  const now = useNow(isWaiting && expiresAt !== undefined)
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= now
  return (
    <>
      <p>
        <b>{by ?? 'Somebody'}</b>
        {` told ${to ?? 'the whole run'}`}
        <span className={styles['soft']}>
          {priority === 'NORMAL' ? '' : ` · ${priority.toLowerCase()} priority`}
          {expiresAt === undefined
            ? ''
            : ` · in force until ${formatClock(Date.parse(expiresAt)).slice(0, 8)}`}
        </span>
      </p>
      <Text className={styles['quote'] ?? ''}>{act.content}</Text>
      {arrivals.length > 0 && (
        <ul className={styles['effects']}>
          {arrivals.map((arrival) => (
            <li key={`${arrival.taskName} ${arrival.attempt} ${arrival.iterationIndex}`}>
              {arrivalWords(arrival)}
            </li>
          ))}
        </ul>
      )}
      {arrivals.length === 0 && (
        <p className={styles['pending']}>
          {isExpired && 'Expired before a model call could show it'}
          {!isExpired && isOver && 'The run ended before a model call could show it'}
          {!isExpired && !isOver && 'Not delivered yet: the next model call shows it'}
        </p>
      )}
    </>
  )
}

function arrivalWords({ taskName, attempt, iterationIndex, at, ...since }: Arrival): string {
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const clock = formatClock(at).slice(0, 8)
  const call = `Reached ${taskName} at model call ${iterationIndex + 1}${again}, ${clock}`
  return `${call}${sinceWords(since)}`
}

function sinceWords({ afterMs, isAtMost }: Pick<Arrival, 'afterMs' | 'isAtMost'>): string {
  if (afterMs === undefined) return ''
  return `, ${isAtMost ? 'at most ' : ''}${formatDuration(afterMs)} after`
}

/** From which model to which, and the first call that went to it. */
function SwitchActView({ act, isOver }: { readonly act: SwitchAct; readonly isOver: boolean }) {
  const { by, model, previousModel, taskName, tier, rule } = act
  return (
    <>
      <p>
        <b>{by ?? (rule === undefined ? 'Somebody' : 'A rule')}</b>
        {` switched ${taskName ?? 'the whole run'} `}
        {previousModel !== undefined && (
          <>
            from <code>{previousModel}</code>
          </>
        )}
        {' to '}
        <code>{model}</code>
        <span className={styles['soft']}>
          {tier === undefined ? '' : ` · tier ${tier}`}
          {rule === undefined ? '' : ` · ${rule}`}
        </span>
      </p>
      {act.at !== undefined && (
        <p className={act.firstCall === undefined ? styles['pending'] : styles['effect']}>
          {describeSwitchEffect(act, isOver)}
        </p>
      )}
    </>
  )
}

function describeSwitchEffect({ at = 0, firstCall }: SwitchAct, isOver: boolean): string {
  if (firstCall === undefined) {
    return isOver ? 'No model call went to it' : 'The next model call goes to it'
  }
  const { taskName, iterationIndex, attempt, model } = firstCall
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const after = formatDuration(Math.max(0, firstCall.at - at))
  return `In effect for ${taskName} at model call ${iterationIndex + 1}${again} (${model}), ${after} after`
}

/** The comparison of texts is loaded when somebody asks for it. */
const DiffView = lazy(() =>
  import('../../ui/show/diff-view.tsx').then((view) => ({ default: view.DiffView })),
)

/** What was decided of which task, by whom, with the words or the changes. */
function ReviewActView({ act: { gate, by } }: { readonly act: ReviewAct }) {
  const [isOpen, setOpen] = useState(false)
  const { feedback, revisedOutput } = gate
  return (
    <>
      <p>
        {gate.status === 'DECIDED' && <b>{by ?? 'Somebody'}</b>}
        {` ${wordsOf(gate)}`}
      </p>
      {gate.prompt !== undefined && gate.prompt !== null && (
        <p className={styles['soft']}>{gate.prompt}</p>
      )}
      {feedback !== undefined && <Text className={styles['quote'] ?? ''}>{feedback}</Text>}
      {revisedOutput !== undefined && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>What was changed</summary>
          {isOpen && (
            <Suspense fallback={<Loading label="Comparing" />}>
              <DiffView before={originalOf(gate)} after={revisedOf(gate, revisedOutput)} />
            </Suspense>
          )}
        </details>
      )}
    </>
  )
}

const OF: Readonly<Record<ReviewState['timing'], string>> = {
  BEFORE_EXECUTION: 'before it began',
  DURING_EXECUTION: 'at a tool call',
  AFTER_EXECUTION: 'after it was done',
}

function wordsOf({
  status,
  decision,
  taskName,
  timing,
  toolName,
  action,
  reason,
}: ReviewState): string {
  const tool = toolName === undefined ? OF[timing] : `at a call of ${toolName}`
  const what = `${taskName} ${tool}`
  if (status === 'TIMED_OUT')
    return `Nobody decided on ${what} in time: ${TIMED_OUT[action ?? 'FAIL']}`
  if (status === 'WITHDRAWN') return `The review of ${what} was withdrawn: ${reason ?? ''}`
  if (decision === 'EXIT_EARLY') return `ended the run early, ${what}`
  return `${decision === undefined ? '' : DECISION[decision].toLowerCase()} ${what}`
}

const TIMED_OUT: Readonly<Record<NonNullable<ReviewState['action']>, string>> = {
  CONTINUE: 'it went on',
  EXIT_EARLY: 'the run ended early',
  FAIL: 'it counted as rejected',
}

function originalOf({ timing, taskOutput, taskDescription, toolInput }: ReviewState): string {
  if (timing === 'AFTER_EXECUTION') return taskOutput
  return timing === 'BEFORE_EXECUTION' ? taskDescription : pretty(toolInput)
}

function revisedOf({ timing }: ReviewState, text: string): string {
  if (timing !== 'DURING_EXECUTION') return text
  try {
    return pretty(JSON.parse(text))
  } catch {
    // The answer to a question is text.
    return text
  }
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? ''
}
