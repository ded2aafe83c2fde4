/** The work of one task, turn by turn. */
import { memo, useCallback, useDeferredValue, useState } from 'react'

import { Empty, Notice } from '../../ui/feedback/notice.tsx'
import { taskShown } from '../../ui/labels.ts'
import { formatCount, formatMoney } from '../../lib/format.ts'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import { Work } from './work.tsx'
import { GateRow } from './gate-row.tsx'
import styles from './task-transcript.module.css'

import type {
  RunState,
  EarlierAttempt as Attempt,
  ReviewState,
  AttemptUsage,
  TaskState,
} from '@tutti/protocol'

import type { Selection } from '../../api/selection.ts'

interface TranscriptProps {
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
}

/**
 * The transcript of the selected task. When more comes than can be drawn, as while a long run is read, it
 * leaves out what lies between and the rest of the page goes on.
 */
export function TaskTranscript({ state, ...rest }: TranscriptProps) {
  return <Transcript state={useDeferredValue(state)} {...rest} />
}

const Transcript = memo(function Transcript({ state, selection, onSelect }: TranscriptProps) {
  /** The earlier attempt that is looked at. */
  const [shown, setShown] = useState<{ readonly task: string; readonly attempt: number }>()
  const openTask = useCallback((taskName: string) => onSelect({ taskName }), [onSelect])
  const task = state.tasks.find(({ name }) => name === selection?.taskName)
  if (task === undefined) {
    return <Empty title="No task yet">The tasks of a run are known when it begins.</Empty>
  }
  const earlier = task.earlierAttempts.find(
    ({ attempt }) => shown?.task === task.name && shown.attempt === attempt,
  )
  const gates = state.reviews.filter(({ taskName }) => taskName === task.name)
  return (
    <>
      <TaskHead
        task={task}
        isHeld={gates.some(({ status }) => status === 'OPEN')}
        attempt={earlier?.attempt ?? task.attempt}
        onAttempt={(attempt) => setShown({ task: task.name, attempt })}
      />
      {earlier === undefined ? (
        <Work
          // What is unfolded, and where one has scrolled to, is of one attempt.
          key={`${task.name} ${task.attempt}`}
          task={task}
          state={state}
          selection={selection}
          onSelect={onSelect}
          onOpenTask={openTask}
        />
      ) : (
        <EarlierAttempt attempt={earlier} gates={gates} />
      )}
    </>
  )
})

function EarlierAttempt({
  attempt: { attempt, reason, code },
  gates,
}: {
  readonly attempt: Attempt
  /** The gates of its task. */
  readonly gates: readonly ReviewState[]
}) {
  return (
    <div className={styles['attempt']}>
      <Notice tone="failed" title={`Attempt ${attempt} failed`}>
        {reason} <code>{code}</code>
      </Notice>
      {gates
        .filter((gate) => gate.attempt === attempt)
        .map((gate) => (
          <GateRow key={gate.reviewId} gate={gate} />
        ))}
      <p className={styles['soft']}>
        The run went on with another attempt. What this one did step by step is in its events.
      </p>
    </div>
  )
}

/** The head of a transcript; `attempt` is the one that is shown. */
function TaskHead({
  task,
  isHeld,
  attempt,
  onAttempt,
}: {
  readonly task: TaskState
  /** Whether a review of it waits for a person. */
  readonly isHeld: boolean
  readonly attempt: number
  readonly onAttempt: (attempt: number) => void
}) {
  const { name, agentRole, earlierAttempts, iterationLimitReached, finishReason, error, status } =
    task
  const { mark, word } = taskShown(task, isHeld)
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
        <h2 className={styles['name']}>{name}</h2>
        <span className={styles['role']}>{agentRole}</span>
        {attempts.length > 1 && (
          <Segmented
            label="Attempt"
            value={String(attempt)}
            segments={attempts.map((one) => ({ value: String(one), label: `Attempt ${one}` }))}
            onChange={(value) => onAttempt(Number(value))}
          />
        )}
      </div>
      <Figures>
        <Figure name="Model">{task.model ?? task.turns.at(-1)?.model ?? '—'}</Figure>
        <Figure name="Elapsed">{earlier === undefined ? <TaskElapsed task={task} /> : '—'}</Figure>
        <UsageFigures usage={earlier?.usage ?? task.usage} />
      </Figures>
      {iterationLimitReached === true && (
        <p className={styles['note']}>
          It hit its limit of model calls and was made to answer with what it had.
        </p>
      )}
      {finishReason === 'length' && status === 'COMPLETED' && (
        <p className={styles['note']}>
          Its answer was cut at the output limit of the model and accepted as it is.
        </p>
      )}
    </header>
  )
}

function TaskElapsed({ task: { status, startedAt, durationMs } }: { readonly task: TaskState }) {
  const isRunning = status === 'RUNNING'
  return (
    <Elapsed since={isRunning ? startedAt : undefined} ms={isRunning ? undefined : durationMs} />
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
        title={usage.costUsd === undefined ? 'No price is known for one of its models' : undefined}
      >
        {formatMoney(usage.costUsd)}
      </Figure>
    </>
  )
}
