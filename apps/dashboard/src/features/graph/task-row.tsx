/** Shows one task of the graph as a button. */
import { MessageSquare, Wrench } from 'lucide-react'
import { memo } from 'react'

import { formatAgents, labelTask, type Shown } from '../../ui/labels.ts'
import { cx } from '../../lib/cx.ts'
import { formatMoney, formatPlural } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { WorkTime } from '../../ui/show/time.tsx'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './task-graph.module.css'
import { sumTaskCost, countToolCalls } from './task-numbers.ts'

import type { TaskState } from '@tutti/protocol/internal'

export interface TaskRowProps {
  readonly task: TaskState
  /** Its name, or the key of a task in a group. */
  readonly label: string
  /** Label of its open reviews; undefined without any. */
  readonly hold: Shown | undefined
  readonly isSelected: boolean
  /** Whether the tab key reaches it; the arrow keys reach the others. */
  readonly isTabStop: boolean
  /** Text that names its dependencies or its delegator. */
  readonly after: string
  /** Center of its mark, and start of its text, in pixels. */
  readonly markX: number
  readonly textX: number
  readonly onSelect: (taskName: string) => void
  readonly onFocus: (taskName: string) => void
}

/** Labels that are not shown, because the mark is clear enough. */
const PLAIN_LABELS = new Set(['Waiting', 'Running', 'Completed'])

/** A row; rendered again only when its props change. */
export const GraphTaskRow = memo(function TaskRow({
  task,
  label,
  hold,
  isSelected,
  isTabStop,
  after,
  markX,
  textX,
  onSelect,
  onFocus,
}: TaskRowProps) {
  const { name, status, attempt } = task
  const { mark, word } = labelTask(task, hold)
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
        mark === 'held' && styles['held'],
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
        <span className={styles['name']}>{label}</span>
        <span className={hidden['hidden']}>{` ${word}, `}</span>
        {hasBegun && (
          <span className={styles['figure']}>
            <WorkTime work={task} />
          </span>
        )}
      </span>
      <span className={styles['line2']}>
        <span className={styles['role']}>
          {!PLAIN_LABELS.has(word) && (
            <span
              aria-hidden
              className={cx(styles['word'], styles[`word-${mark}`])}
            >{`${word} · `}</span>
          )}
          {attempt > 1 && `Attempt ${attempt} · `}
          {formatAgents(task)}
        </span>
        {hasBegun && <Counts task={task} />}
      </span>
      <span className={hidden['hidden']}>{after}</span>
    </button>
  )
})

/** The calls of the current attempt, and the cost of all attempts. */
function Counts({ task }: { readonly task: TaskState }) {
  const calls = countToolCalls(task)
  return (
    <span className={styles['counts']}>
      <MessageSquare aria-hidden />
      <span aria-hidden>{task.turns.length}</span>
      <Wrench aria-hidden />
      <span aria-hidden>{calls}</span>
      <span className={hidden['hidden']}>
        {`, ${formatPlural(task.turns.length, 'model call')}, ${formatPlural(calls, 'tool call')}, `}
      </span>
      <span>{formatMoney(sumTaskCost(task))}</span>
    </span>
  )
}
