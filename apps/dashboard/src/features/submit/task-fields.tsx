/** The fields of a task of the request's own: what everybody needs first, the rest folded. */
import { ChoiceField } from './choice-field.tsx'
import { listOrNothing, taskTitle, type TaskDraft } from './draft.ts'
import { MoreTaskFields } from './more-task-fields.tsx'
import { PickField } from './pick-field.tsx'
import styles from './submit.module.css'
import { TextField } from './text-field.tsx'

import type { Capabilities } from '@tutti/protocol'

/** The fields. */
export function TaskFields({
  path,
  task,
  tasks,
  capabilities: { tools, models },
  set,
}: {
  readonly path: string
  readonly task: TaskDraft
  readonly tasks: readonly TaskDraft[]
  readonly capabilities: Capabilities
  readonly set: <K extends keyof TaskDraft>(field: K, value: TaskDraft[K]) => void
}) {
  return (
    <div className={styles['fields']}>
      <TextField
        path={`${path}/name`}
        label="Name"
        placeholder="From the description"
        value={task.name}
        onChange={(value) => set('name', value)}
      />
      <TextField
        path={`${path}/description`}
        label="Description"
        required
        area
        isTall
        placeholder="What its agent should do; {name} asks for an input"
        value={task.description}
        onChange={(value) => set('description', value)}
      />
      <TextField
        path={`${path}/expectedOutput`}
        label="Expected output"
        area
        value={task.expectedOutput}
        onChange={(value) => set('expectedOutput', value)}
      />
      <div className={styles['pair']}>
        <PickField
          path={`${path}/context`}
          label="Waits for"
          hint="Tasks whose output it gets"
          add="Add a task"
          values={task.context ?? []}
          picks={tasks.flatMap((other, at) =>
            other.key === task.key ? [] : { value: other.key, label: taskTitle(other, at) },
          )}
          onChange={(values) => set('context', listOrNothing(values))}
        />
        <PickField
          path={`${path}/tools`}
          label="Tools"
          add="Add a tool"
          values={task.tools ?? []}
          picks={tools.map(({ name }) => ({ value: name, label: name }))}
          onChange={(values) => set('tools', listOrNothing(values))}
        />
      </div>
      <ChoiceField
        path={`${path}/model`}
        label="Model"
        none="That of the ensemble"
        choices={models.map(({ alias, provider }) => ({
          value: alias,
          label: `${alias} (${provider})`,
        }))}
        value={task.model}
        onChange={(value) => set('model', value)}
      />
      <MoreTaskFields path={path} task={task} set={set} />
    </div>
  )
}
