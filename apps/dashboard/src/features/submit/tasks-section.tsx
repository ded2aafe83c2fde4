/** Edits the tasks defined by the request. */
import { Plus, ArrowDown, ArrowUp, Copy, Trash2 } from 'lucide-react'

import { Button, IconButton } from '../../ui/controls/button.tsx'
import { Errors } from '../../ui/controls/field.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { useForm } from '../../ui/schema-form/form-context.ts'
import {
  duplicateTask,
  moveTask,
  appendTask,
  removeTask,
  type SubmissionDraft,
  type TaskDraft,
  formatTaskTitle,
  type ChangeDraft,
} from './draft.ts'
import { TaskForm } from './task-fields.tsx'
import styles from './submit.module.css'

import type { Capabilities } from '@tutti/protocol'

export function TasksSection({
  draft: { tasks },
  capabilities,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly capabilities: Capabilities
  readonly change: ChangeDraft
}) {
  const { errors } = useForm()
  const set = (next: (tasks: readonly TaskDraft[]) => readonly TaskDraft[]): void =>
    change((before) => ({ ...before, tasks: next(before.tasks) }))
  const act = (at: number, action: TaskAction): void =>
    set((before) => {
      switch (action) {
        case 'up':
          return moveTask(before, at, at - 1)
        case 'down':
          return moveTask(before, at, at + 1)
        case 'duplicate':
          return duplicateTask(before, at)
        case 'remove':
          return removeTask(before, at)
      }
    })
  return (
    <Panel title="Tasks" flush>
      <div data-pointer="/tasks" className={styles['tasks']}>
        <Errors errors={errors('/tasks', true)} />
        {tasks.map((task, index) => (
          <TaskEditor
            key={task.key}
            index={index}
            tasks={tasks}
            capabilities={capabilities}
            onAction={(action) => act(index, action)}
          />
        ))}
        <div className={styles['add']}>
          <Button icon={<Plus />} onClick={() => set(appendTask)}>
            Add task
          </Button>
        </div>
      </div>
    </Panel>
  )
}

/** An action on a whole task. */
type TaskAction = 'up' | 'down' | 'duplicate' | 'remove'

function TaskEditor({
  index,
  tasks,
  capabilities,
  onAction,
}: {
  readonly index: number
  readonly tasks: readonly TaskDraft[]
  readonly capabilities: Capabilities
  readonly onAction: (action: TaskAction) => void
}) {
  const task = tasks[index]
  const { errors } = useForm()
  if (task === undefined) return null
  const title = formatTaskTitle(task, index)
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
      <Errors errors={errors(`/tasks/${index}`, true)} />
      <TaskForm path={`/tasks/${index}`} task={task} tasks={tasks} capabilities={capabilities} />
    </section>
  )
}
