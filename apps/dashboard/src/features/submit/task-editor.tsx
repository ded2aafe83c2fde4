/** One task of the request's own. */
import { ArrowDown, ArrowUp, Copy, Trash2 } from 'lucide-react'

import { IconButton } from '../../ui/controls/button.tsx'
import { useErrors } from './form-errors.ts'
import { taskTitle, withField, type TaskDraft } from './draft.ts'
import styles from './submit.module.css'
import { TaskFields } from './task-fields.tsx'

import type { Capabilities } from '@tutti/protocol'

/** What is done with a task as a whole. */
export type TaskAction = 'up' | 'down' | 'duplicate' | 'remove'

/** The editor. */
export function TaskEditor({
  index,
  tasks,
  capabilities,
  onChange,
  onAction,
}: {
  readonly index: number
  readonly tasks: readonly TaskDraft[]
  readonly capabilities: Capabilities
  readonly onChange: (task: TaskDraft) => void
  readonly onAction: (action: TaskAction) => void
}) {
  const task = tasks[index]
  const errors = useErrors(`/tasks/${index}`)
  if (task === undefined) return null
  const title = taskTitle(task, index)
  const set = <K extends keyof TaskDraft>(field: K, value: TaskDraft[K]): void =>
    onChange(withField(task, field, value))
  return (
    <section className={styles['own']} aria-label={`Task ${index + 1}`}>
      <header>
        <span className={styles['number']}>{index + 1}</span>
        <h3>{title}</h3>
        <IconButton
          label={`Move ${title} up`}
          icon={<ArrowUp />}
          disabled={index === 0}
          onClick={() => onAction('up')}
        />
        <IconButton
          label={`Move ${title} down`}
          icon={<ArrowDown />}
          disabled={index === tasks.length - 1}
          onClick={() => onAction('down')}
        />
        <IconButton
          label={`Duplicate ${title}`}
          icon={<Copy />}
          onClick={() => onAction('duplicate')}
        />
        <IconButton
          label={`Remove ${title}`}
          icon={<Trash2 />}
          onClick={() => onAction('remove')}
        />
      </header>
      {errors.map((error) => (
        <p key={error} className={styles['errors']}>
          {error}
        </p>
      ))}
      <TaskFields
        path={`/tasks/${index}`}
        task={task}
        tasks={tasks}
        capabilities={capabilities}
        set={set}
      />
    </section>
  )
}
