/** The tasks of the request's own. */
import { Plus } from 'lucide-react'

import { Button } from '../../ui/controls/button.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { withCopy, withMoved, withNewTask, withoutTask } from './change-tasks.ts'
import { useErrors } from './form-errors.ts'
import styles from './submit.module.css'
import { TaskEditor, type TaskAction } from './task-editor.tsx'

import type { SubmissionDraft, TaskDraft } from './draft.ts'
import type { Change } from './sections.ts'
import type { Capabilities } from '@tutti/protocol'

/** The section. */
export function TasksSection({
  draft: { tasks },
  capabilities,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly capabilities: Capabilities
  readonly change: Change
}) {
  const errors = useErrors('/tasks')
  const set = (next: (tasks: readonly TaskDraft[]) => readonly TaskDraft[]): void =>
    change((before) => ({ ...before, tasks: next(before.tasks) }))
  const act = (at: number, action: TaskAction): void =>
    set((before) => {
      switch (action) {
        case 'up':
          return withMoved(before, at, at - 1)
        case 'down':
          return withMoved(before, at, at + 1)
        case 'duplicate':
          return withCopy(before, at)
        case 'remove':
          return withoutTask(before, at)
      }
    })
  return (
    <Panel title="Tasks" flush>
      <div data-pointer="/tasks" className={styles['tasks']}>
        {errors.map((error) => (
          <p key={error} className={styles['errors']}>
            {error}
          </p>
        ))}
        {tasks.map((task, index) => (
          <TaskEditor
            key={task.key}
            index={index}
            tasks={tasks}
            capabilities={capabilities}
            onChange={(next) => set((before) => before.with(index, next))}
            onAction={(action) => act(index, action)}
          />
        ))}
        <div className={styles['add']}>
          <Button icon={<Plus />} onClick={() => set(withNewTask)}>
            Add a task
          </Button>
        </div>
      </div>
    </Panel>
  )
}
