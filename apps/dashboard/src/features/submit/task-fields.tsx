/** The fields of a task: of one that the request defines, and of what changes in one of the ensemble. */
import {
  TaskDefinitionBody,
  TaskOverrideBody,
  type Capabilities,
  type ModelInfo,
} from '@tutti/protocol'
import { useState } from 'react'

import { SchemaFields, type FieldLook, type FieldLooks } from './body-fields.tsx'
import { taskTitle, withField, type OverrideDraft, type TaskDraft } from './draft.ts'
import { PickField } from './list-fields.tsx'
import styles from './submit.module.css'

const EXPECTED_OUTPUT = { label: 'Expected output', area: 'line' } as const
const ADDITIONAL_CONTEXT = {
  label: 'Additional context',
  hint: 'What its agent is told in addition',
  area: 'line',
} as const
const OWN_TASK: FieldLooks = {
  name: { label: 'Name', placeholder: 'From the description' },
  description: {
    label: 'Description',
    isRequired: true,
    area: 'tall',
    placeholder: 'What its agent should do; {name} asks for an input',
  },
  expectedOutput: EXPECTED_OUTPUT,
}
const MORE_OF_TASK: FieldLooks = {
  additionalContext: ADDITIONAL_CONTEXT,
  outputSchema: {
    label: 'Output schema',
    hint: 'JSON Schema that the answer must match',
    area: 'tall',
    isCode: true,
  },
}
const OVERRIDE: FieldLooks = {
  description: { label: 'Description', area: 'line', hint: 'In place of the one above' },
  expectedOutput: EXPECTED_OUTPUT,
  additionalContext: ADDITIONAL_CONTEXT,
}
const REVIEWS = [
  { value: 'required', label: 'Required' },
  { value: 'skip', label: 'Skipped' },
]

/** The fields of a task that most tasks do not need. */
const FOLDED = [
  'outputSchema',
  'review',
  'beforeReview',
  'maxIterations',
  'additionalContext',
] as const

export function TaskForm({
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
  readonly set: (field: string, value: unknown) => void
}) {
  const [isFoldOpen] = useState(() => FOLDED.some((field) => task[field] !== undefined))
  const fields = { schema: TaskDefinitionBody, path, value: task, set }
  return (
    <div className={styles['fields']}>
      <SchemaFields {...fields} looks={OWN_TASK} />
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
          onChange={(values) => set('context', values)}
        />
        <PickField
          path={`${path}/tools`}
          label="Tools"
          add="Add a tool"
          values={task.tools ?? []}
          picks={picksOf(tools.map(({ name }) => name))}
          onChange={(values) => set('tools', values)}
        />
      </div>
      <SchemaFields {...fields} looks={{ model: modelLook(models, 'That of the ensemble') }} />
      <details className={styles['fold']} open={isFoldOpen}>
        <summary>More of this task</summary>
        <div className={styles['fields']}>
          <SchemaFields {...fields} looks={MORE_OF_TASK} />
          <div className={styles['pair']}>
            <SchemaFields {...fields} looks={reviewLooks('As the review policy says')} />
          </div>
          <div className={styles['pair']}>
            <SchemaFields
              {...fields}
              looks={{ maxIterations: { label: 'Model calls at most', placeholder: '25' } }}
            />
          </div>
        </div>
      </details>
    </div>
  )
}

/** `own` are the tools that the task has. */
export function OverrideFields({
  path,
  own,
  override,
  capabilities: { tools, models },
  set,
}: {
  readonly path: string
  readonly own: readonly string[]
  readonly override: OverrideDraft
  readonly capabilities: Capabilities
  readonly set: (field: string, value: unknown) => void
}) {
  const fields = { schema: TaskOverrideBody, path, value: override, set }
  const { add = [], remove = [] } = override.tools ?? {}
  const setTools = (part: 'add' | 'remove', values: readonly string[]): void =>
    set('tools', withField(override.tools ?? {}, part, values))
  return (
    <>
      <SchemaFields {...fields} looks={OVERRIDE} />
      <div className={styles['pair']}>
        <SchemaFields
          {...fields}
          looks={{
            model: modelLook(models, 'As it is'),
            maxIterations: { label: 'Model calls at most', placeholder: 'As it is' },
          }}
        />
      </div>
      <div className={styles['pair']}>
        <SchemaFields {...fields} looks={reviewLooks('As it is')} />
      </div>
      <div className={styles['pair']}>
        <PickField
          path={`${path}/tools/add`}
          label="Tools to add"
          add="Add a tool"
          values={add}
          picks={picksOf(tools.map(({ name }) => name).filter((name) => !own.includes(name)))}
          onChange={(values) => setTools('add', values)}
        />
        <PickField
          path={`${path}/tools/remove`}
          label="Tools to take away"
          add="Take a tool away"
          values={remove}
          picks={picksOf(own)}
          onChange={(values) => setTools('remove', values)}
        />
      </div>
    </>
  )
}

function modelLook(models: readonly ModelInfo[], none: string): FieldLook {
  const choices = models.map(({ alias, provider }) => ({
    value: alias,
    label: `${alias} (${provider})`,
  }))
  return { label: 'Model', none, choices }
}

/** `none` is the label of the empty choice for the review after the task. */
function reviewLooks(none: string): FieldLooks {
  return {
    beforeReview: { label: 'Review before it', none: 'As it is', choices: REVIEWS },
    review: { label: 'Review after it', none, choices: REVIEWS },
  }
}

function picksOf(names: readonly string[]) {
  return names.map((name) => ({ value: name, label: name }))
}
