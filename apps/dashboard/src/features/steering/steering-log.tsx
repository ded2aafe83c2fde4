/** Shows the steering history of a run. */
import { MessageSquare, Repeat2, Square } from 'lucide-react'
import { memo, useContext, useMemo, type ReactNode, lazy, Suspense, useState } from 'react'

import { formatClock, formatInstant, UNKNOWN, formatDuration } from '../../lib/format.ts'
import { ShownTime, useNow } from '../../lib/use-now.ts'
import { Empty, Loading } from '../../ui/feedback/notice.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { Text } from '../../ui/show/text.tsx'
import { DECISION } from '../../ui/labels.ts'
import {
  listSteeringActs,
  type SteeringAct,
  type CancelAct,
  type Arrival,
  type DirectiveAct,
  type SwitchAct,
  type ReviewAct,
} from './steering-entries.ts'
import styles from './steering-log.module.css'

import type { RunState } from '@tutti/protocol'
import type { ReviewState } from '@tutti/protocol/internal'

import type { FollowedLog } from '../../api/run-log.ts'

/** Directives, model switches, decisions and cancels, newest last; `log` adds actors and times. */
export function SteeringLog({
  state,
  log,
}: {
  readonly state: RunState
  readonly log?: FollowedLog | undefined
}) {
  const until = useContext(ShownTime)
  const acts = useMemo(() => listSteeringActs(state, log, until), [state, log, until])
  if (acts.length === 0) {
    return (
      <Empty title="No steering yet">
        Directives, model switches, reviews and cancels are listed here, with the time at which each
        took effect.
      </Empty>
    )
  }
  return (
    // Scrollable regions need to be reachable by keyboard.
    <ol className={styles['log']} aria-label="Steering log" tabIndex={0}>
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
        {/* The time of an old directive is that of the event before it. */}
        {act.kind === 'directive' && at !== undefined && <small>after </small>}
        {at === undefined ? UNKNOWN : formatClock(at).slice(0, 8)}
      </time>
      <span className={styles['icon']}>{renderIcon(act)}</span>
      <div className={styles['body']}>{renderAct(act, isOver)}</div>
    </li>
  )
}, isSameRow)

/**
 * Compares acts by value: they are rebuilt on each event, and unchanged rows must not render again.
 */
function isSameRow(
  one: { readonly act: SteeringAct; readonly isOver: boolean },
  other: { readonly act: SteeringAct; readonly isOver: boolean },
): boolean {
  return one.isOver === other.isOver && JSON.stringify(one.act) === JSON.stringify(other.act)
}

function renderIcon(act: SteeringAct): ReactNode {
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

function renderAct(act: SteeringAct, isOver: boolean): ReactNode {
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

/** A cancel: actor, mode, and when the run stopped. */
function CancelActView({ act }: { readonly act: CancelAct }) {
  const { by, mode } = act
  const how = mode === 'abort' ? 'stopping running work' : 'letting running tasks finish'
  return (
    <>
      <p>
        <b>{by ?? 'Someone'}</b>
        {` cancelled the run, ${how}`}
      </p>
      <p className={act.isOver ? styles['effect'] : styles['pending']}>
        {describeCancelEffect(act)}
      </p>
    </>
  )
}

function describeCancelEffect({ at, isOver, stoppedAt, endedOtherwise }: CancelAct): string {
  if (!isOver) return 'Waiting for running work to end'
  const took = at === undefined || stoppedAt === undefined ? undefined : stoppedAt - at
  const after = took === undefined ? '' : `, ${formatDuration(took)} later`
  const when = stoppedAt === undefined ? '' : ` at ${formatClock(stoppedAt).slice(0, 8)}`
  if (endedOtherwise) return `The run ended${when}${after}, before anything was stopped`
  return `Stopped${when}${after}`
}

/** A directive: sender, target, text, and the model calls that received it. */
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
        <b>{by ?? 'Someone'}</b>
        {` sent a directive to ${to ?? 'the whole run'}`}
        <span className={styles['soft']}>
          {priority === 'NORMAL' ? '' : ` · ${priority.toLowerCase()} priority`}
          {expiresAt === undefined
            ? ''
            : ` · valid until ${formatClock(Date.parse(expiresAt)).slice(0, 8)}`}
        </span>
      </p>
      <Text className={styles['quote'] ?? ''}>{act.content}</Text>
      {arrivals.length > 0 && (
        <ul className={styles['effects']}>
          {arrivals.map((arrival) => (
            <li key={`${arrival.taskName} ${arrival.attempt} ${arrival.iterationIndex}`}>
              {describeArrival(arrival)}
            </li>
          ))}
        </ul>
      )}
      {arrivals.length === 0 && (
        <p className={styles['pending']}>
          {isExpired && 'Expired before it was delivered'}
          {!isExpired && isOver && 'The run ended before it was delivered'}
          {!isExpired && !isOver && 'Not delivered yet: the next model call will contain it'}
        </p>
      )}
    </>
  )
}

function describeArrival({ taskName, attempt, iterationIndex, at, afterMs }: Arrival): string {
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const clock = formatClock(at).slice(0, 8)
  const call = `Delivered to ${taskName} at model call ${iterationIndex + 1}${again}, ${clock}`
  return `${call}, ${formatDuration(afterMs)} later`
}

/** A model switch: actor, models, and the first call that used the new model. */
function SwitchActView({ act, isOver }: { readonly act: SwitchAct; readonly isOver: boolean }) {
  const { by, model, previousModel, taskName, tier, rule } = act
  return (
    <>
      <p>
        <b>{by ?? (rule === undefined ? 'Someone' : 'A rule')}</b>
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
    return isOver ? 'No model call used it' : 'The next model call uses it'
  }
  const { taskName, iterationIndex, attempt, model } = firstCall
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const after = formatDuration(Math.max(0, firstCall.at - at))
  return `In effect for ${taskName} at model call ${iterationIndex + 1}${again} (${model}), ${after} later`
}

/** Loaded when first needed. */
const DiffView = lazy(() =>
  import('../../ui/show/diff-view.tsx').then((view) => ({ default: view.DiffView })),
)

/** A closed review: reviewer, decision, and feedback or changes. */
function ReviewActView({ act: { review, by } }: { readonly act: ReviewAct }) {
  const [isOpen, setOpen] = useState(false)
  const { feedback, revisedOutput } = review
  return (
    <>
      <p>
        {review.status === 'DECIDED' && <b>{by ?? 'Someone'}</b>}
        {` ${describeReview(review)}`}
      </p>
      {review.prompt !== undefined && review.prompt !== null && (
        <p className={styles['soft']}>{review.prompt}</p>
      )}
      {feedback !== undefined && <Text className={styles['quote'] ?? ''}>{feedback}</Text>}
      {revisedOutput !== undefined && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Changes</summary>
          {isOpen && (
            <Suspense fallback={<Loading label="Loading changes" />}>
              <DiffView
                before={formatReviewed(review)}
                after={formatRevised(review, revisedOutput)}
              />
            </Suspense>
          )}
        </details>
      )}
    </>
  )
}

const TIMING_LABELS: Readonly<Record<ReviewState['timing'], string>> = {
  BEFORE_EXECUTION: 'before it started',
  DURING_EXECUTION: 'at a tool call',
  AFTER_EXECUTION: 'after it ended',
}

function describeReview({
  status,
  decision,
  taskName,
  timing,
  toolName,
  action,
  reason,
}: ReviewState): string {
  const tool = toolName === undefined ? TIMING_LABELS[timing] : `at a call of ${toolName}`
  const what = `${taskName} ${tool}`
  if (status === 'TIMED_OUT')
    return `The review of ${what} timed out: ${TIMED_OUT[action ?? 'FAIL']}`
  if (status === 'WITHDRAWN') return `The review of ${what} was withdrawn: ${reason ?? ''}`
  if (decision === 'EXIT_EARLY') return `ended the run early, ${what}`
  return `${decision === undefined ? '' : DECISION[decision].toLowerCase()} ${what}`
}

const TIMED_OUT: Readonly<Record<NonNullable<ReviewState['action']>, string>> = {
  CONTINUE: 'the run continued',
  EXIT_EARLY: 'the run ended early',
  FAIL: 'it counted as rejected',
}

function formatReviewed({ timing, taskOutput, taskDescription, toolInput }: ReviewState): string {
  if (timing === 'AFTER_EXECUTION') return taskOutput
  return timing === 'BEFORE_EXECUTION' ? taskDescription : formatJson(toolInput)
}

function formatRevised({ timing }: ReviewState, text: string): string {
  if (timing !== 'DURING_EXECUTION') return text
  try {
    return formatJson(JSON.parse(text))
  } catch {
    // The answer to a question is plain text.
    return text
  }
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? ''
}
