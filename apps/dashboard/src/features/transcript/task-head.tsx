/** What a task is and how it stands, in one line. */
import { taskShown } from '../../api/words.ts'
import { formatCount, formatMoney } from '../../lib/format.ts'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import styles from './task-head.module.css'

import type { AttemptUsage, TaskState } from '@tutti/protocol'

/** The head of a transcript; `attempt` is the one that is shown. */
export function TaskHead({
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
