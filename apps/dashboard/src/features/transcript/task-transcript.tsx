/** Shows the work of one task, turn by turn. */
import { GitFork } from 'lucide-react'
import { memo, useCallback, useDeferredValue, useState } from 'react'

import { Empty, Notice } from '../../ui/feedback/notice.tsx'
import { formatAgents, labelHold, labelTask, type Shown } from '../../ui/labels.ts'
import { formatCount, formatMoney } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { WorkTime } from '../../ui/show/time.tsx'
import { Work, type OnFork } from './work.tsx'
import { ReviewRow } from './review-row.tsx'
import styles from './transcript.module.css'

import type { RunState } from '@tutti/protocol'
import type {
  EarlierAttempt as Attempt,
  ReviewState,
  AttemptUsage,
  TaskState,
} from '@tutti/protocol/internal'

import type { Selection } from '../../api/selection.ts'

interface TranscriptProps {
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  /** Forks the run from a task or from one of its turns; undefined if that is not possible. */
  readonly onFork?: OnFork | undefined
}

/**
 * The transcript of the selected task. Rendering is deferred, so that intermediate states are
 * skipped while a long run loads, and the rest of the page stays responsive.
 */
export function TaskTranscript({ state, ...rest }: TranscriptProps) {
  return <Transcript state={useDeferredValue(state)} {...rest} />
}

const Transcript = memo(function Transcript({
  state,
  selection,
  onSelect,
  onFork,
}: TranscriptProps) {
  /** The displayed earlier attempt. */
  const [shown, setShown] = useState<{ readonly task: string; readonly attempt: number }>()
  const openTask = useCallback((taskName: string) => onSelect({ taskName }), [onSelect])
  const task = state.tasks.find(({ name }) => name === selection?.taskName)
  if (task === undefined) {
    return <Empty title="No tasks yet">Tasks appear when the run starts.</Empty>
  }
  const earlier = task.earlierAttempts.find(
    ({ attempt }) => shown?.task === task.name && shown.attempt === attempt,
  )
  const reviews = state.reviews.filter(({ taskName }) => taskName === task.name)
  return (
    <>
      <TaskHead
        task={task}
        hold={labelHold(reviews)}
        attempt={earlier?.attempt ?? task.attempt}
        onAttempt={(attempt) => setShown({ task: task.name, attempt })}
        onFork={onFork}
      />
      {earlier === undefined ? (
        <Work
          // Folds and the scroll position belong to one attempt.
          key={`${task.name} ${task.attempt}`}
          task={task}
          state={state}
          selection={selection}
          onSelect={onSelect}
          onOpenTask={openTask}
          onFork={onFork}
        />
      ) : (
        <EarlierAttempt attempt={earlier} reviews={reviews} />
      )}
    </>
  )
})

function EarlierAttempt({
  attempt: { attempt, reason, code },
  reviews,
}: {
  readonly attempt: Attempt
  /** Reviews of the task. */
  readonly reviews: readonly ReviewState[]
}) {
  return (
    <div className={styles['attempt']}>
      <Notice tone="failed" title={`Attempt ${attempt} failed`}>
        {reason} <code>{code}</code>
      </Notice>
      {reviews
        .filter((review) => review.attempt === attempt)
        .map((review) => (
          <ReviewRow key={review.reviewId} review={review} />
        ))}
      <p className={styles['soft']}>
        The run continued with another attempt. The Events tab shows the steps of this one.
      </p>
    </div>
  )
}

interface TaskHeadProps {
  readonly task: TaskState
  /** Label of its open reviews; undefined without any. */
  readonly hold: Shown | undefined
  readonly attempt: number
  readonly onAttempt: (attempt: number) => void
  readonly onFork: OnFork | undefined
}

/** The header of a transcript; `attempt` is the displayed one. */
function TaskHead({ task, hold, attempt, onAttempt, onFork }: TaskHeadProps) {
  const { name, earlierAttempts, iterationLimitReached, finishReason, error, status } = task
  const { mark, word } = labelTask(task, hold)
  const earlier = earlierAttempts.find((one) => one.attempt === attempt)
  const attempts = [...earlierAttempts.map((one) => one.attempt), task.attempt]
  return (
    <header className={styles['head']}>
      <div className={styles['what']}>
        <Marked kind={mark}>{word}</Marked>
        {error !== undefined && status === 'FAILED' && (
          <code className={styles['code']} title={error.reason}>
            {error.code}
          </code>
        )}
        <h2 className={styles['taskName']}>{name}</h2>
        <span className={styles['role']}>{formatAgents(task)}</span>
        {attempts.length > 1 && (
          <Segmented
            label="Attempt"
            value={String(attempt)}
            segments={attempts.map((one) => ({ value: String(one), label: `Attempt ${one}` }))}
            onChange={(value) => onAttempt(Number(value))}
          />
        )}
        {onFork !== undefined && task.attempt > 0 && (
          <Button
            size="s"
            kind="quiet"
            icon={<GitFork />}
            className={styles['taskFork']}
            onClick={() => onFork({ taskName: name })}
          >
            Fork from this task…
          </Button>
        )}
      </div>
      <Figures>
        <Figure name="Model">{task.model ?? task.turns.at(-1)?.model ?? '—'}</Figure>
        <Figure name="Elapsed">{earlier === undefined ? <WorkTime work={task} /> : '—'}</Figure>
        <UsageFigures usage={earlier?.usage ?? task.usage} />
      </Figures>
      {iterationLimitReached === true && (
        <p className={styles['note']}>
          The agent reached its limit of model calls and had to answer with what it had.
        </p>
      )}
      {finishReason === 'length' && status === 'COMPLETED' && (
        <p className={styles['note']}>
          The answer was cut off at the output limit of the model and accepted as it is.
        </p>
      )}
    </header>
  )
}

function UsageFigures({ usage }: { readonly usage: AttemptUsage }) {
  return (
    <>
      <Figure name="Tokens in">{formatCount(usage.inputTokens)}</Figure>
      <Figure name="Tokens out">{formatCount(usage.outputTokens)}</Figure>
      <Figure name="Tool calls">{formatCount(usage.toolCallCount)}</Figure>
      <Figure
        name="Cost"
        title={
          usage.costUsd === undefined ? 'One of its models has no configured price' : undefined
        }
      >
        {formatMoney(usage.costUsd)}
      </Figure>
    </>
  )
}
