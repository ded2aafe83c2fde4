/** One task of the graph, as a button. */
import { MessageSquare, Wrench } from 'lucide-react'
import { memo } from 'react'

import { taskShown } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatMoney, plural } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Elapsed } from '../../ui/show/time.tsx'
import unseen from '../../ui/show/unseen.module.css'
import styles from './task-graph.module.css'
import { taskCost, toolCallsOf } from './task-facts.ts'

import type { TaskState } from '@tutti/protocol'

export interface TaskRowProps {
  readonly task: TaskState
  readonly isHeld: boolean
  readonly isSelected: boolean
  /** Whether the tab key leads to it; the arrow keys lead to the others. */
  readonly isTabStop: boolean
  /** Names of what it waits for, or of who delegated it, as words. */
  readonly after: string
  /** Middle of its mark, and where its words begin, in pixels. */
  readonly markX: number
  readonly textX: number
  readonly onSelect: (taskName: string) => void
  readonly onFocus: (taskName: string) => void
}

/** States that go without saying: the mark tells them. */
const PLAIN_WORDS = new Set(['Waiting', 'Running', 'Completed'])

/** A row; drawn anew only when its task has changed. */
export const GraphTaskRow = memo(function TaskRow({
  task,
  isHeld,
  isSelected,
  isTabStop,
  after,
  markX,
  textX,
  onSelect,
  onFocus,
}: TaskRowProps) {
  const { name, agentRole, status, attempt } = task
  const { mark, word } = taskShown(task, isHeld)
  const hasBegun = task.startedAt !== undefined
  return (
    <button
      type="button"
      data-task={name}
      aria-pressed={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      title={`${name}\n${task.description}`}
      className={cx(
        styles['row'],
        isHeld && styles['held'],
        isSelected && styles['selected'],
        status === 'PENDING' && styles['pending'],
      )}
      style={{ paddingInlineStart: `${textX / 16}rem` }}
      onClick={() => onSelect(name)}
      onFocus={() => onFocus(name)}
    >
      <span className={styles['mark']} style={{ insetInlineStart: `${markX / 16}rem` }}>
        <Mark kind={mark} />
      </span>
      <span className={styles['line1']}>
        <span className={styles['name']}>{name}</span>
        <span className={unseen['unseen']}>{` ${word}, `}</span>
        {hasBegun && (
          <span className={styles['figure']}>
            <Elapsed since={task.startedAt} ms={lengthOf(task)} />
          </span>
        )}
      </span>
      <span className={styles['line2']}>
        <span className={styles['role']}>
          {!PLAIN_WORDS.has(word) && (
            <span
              aria-hidden
              className={cx(styles['word'], styles[`word-${mark}`])}
            >{`${word} · `}</span>
          )}
          {attempt > 1 && `Attempt ${attempt} · `}
          {agentRole}
        </span>
        {hasBegun && <Counts task={task} />}
      </span>
      <span className={unseen['unseen']}>{after}</span>
    </button>
  )
})

/** What the attempt has done, and all attempts have cost. */
function Counts({ task }: { readonly task: TaskState }) {
  const calls = toolCallsOf(task)
  return (
    <span className={styles['counts']}>
      <MessageSquare aria-hidden />
      <span aria-hidden>{task.turns.length}</span>
      <Wrench aria-hidden />
      <span aria-hidden>{calls}</span>
      <span className={unseen['unseen']}>
        {`, ${plural(task.turns.length, 'model call')}, ${plural(calls, 'tool call')}, `}
      </span>
      <span>{formatMoney(taskCost(task))}</span>
    </span>
  )
}

/** How long the attempt took; a log may lack it. Undefined while it runs. */
function lengthOf({ status, durationMs, startedAt, completedAt }: TaskState): number | undefined {
  if (status === 'RUNNING') return undefined
  if (durationMs !== undefined) return durationMs
  if (startedAt === undefined || completedAt === undefined) return Number.NaN
  return Date.parse(completedAt) - Date.parse(startedAt)
}
