/** The fields of a task: of one defined by the request, or of overrides. */
import { type Capabilities, type ModelInfo } from '@tutti/protocol'
import { TaskDefinitionBody, TaskOverrideBody } from '@tutti/protocol/internal'
import { useState } from 'react'

import { SchemaFields, type FieldLook, type FieldLooks } from './body-fields.tsx'
import { formatTaskTitle, setField, type OverrideDraft, type TaskDraft } from './draft.ts'
import { PickField } from './list-fields.tsx'
import styles from './submit.module.css'

const EXPECTED_OUTPUT = { label: 'Expected output', area: 'line' } as const
const ADDITIONAL_CONTEXT = {
  label: 'Additional context',
  hint: 'Added to the context of the agent',
  area: 'line',
} as const
const OWN_TASK: FieldLooks = {
  name: { label: 'Name', placeholder: 'Derived from the description' },
  description: {
    label: 'Description',
    isRequired: true,
    area: 'tall',
    placeholder: 'What the agent should do; {name} inserts an input',
  },
  expectedOutput: EXPECTED_OUTPUT,
}
const MORE_OF_TASK: FieldLooks = {
  additionalContext: ADDITIONAL_CONTEXT,
  outputSchema: {
    label: 'Output schema',
    hint: 'JSON Schema that the output must match',
    area: 'tall',
    isCode: true,
  },
}
const OVERRIDE: FieldLooks = {
  description: { label: 'Description', area: 'line', hint: 'Replaces the one above' },
  expectedOutput: EXPECTED_OUTPUT,
  additionalContext: ADDITIONAL_CONTEXT,
}
const REVIEWS = [
  { value: 'required', label: 'Required' },
  { value: 'skip', label: 'Skipped' },
]

/** Fields in the collapsed part. */
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
          label="Depends on"
          hint="Tasks whose output it gets"
          add="Add task"
          values={task.context ?? []}
          picks={tasks.flatMap((other, at) =>
            other.key === task.key ? [] : { value: other.key, label: formatTaskTitle(other, at) },
          )}
          onChange={(values) => set('context', values)}
        />
        <PickField
          path={`${path}/tools`}
          label="Tools"
          add="Add tool"
          values={task.tools ?? []}
          picks={toPicks(tools.map(({ name }) => name))}
          onChange={(values) => set('tools', values)}
        />
      </div>
      <SchemaFields {...fields} looks={{ model: createModelLook(models, 'Ensemble default') }} />
      <details className={styles['fold']} open={isFoldOpen}>
        <summary>More settings</summary>
        <div className={styles['fields']}>
          <SchemaFields {...fields} looks={MORE_OF_TASK} />
          <div className={styles['pair']}>
            <SchemaFields {...fields} looks={createReviewLooks('Review policy')} />
          </div>
          <div className={styles['pair']}>
            <SchemaFields
              {...fields}
              looks={{ maxIterations: { label: 'Maximum model calls', placeholder: '25' } }}
            />
          </div>
        </div>
      </details>
    </div>
  )
}

/** The overrides of a task; `own` are the tools of the task. */
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
    set('tools', setField(override.tools ?? {}, part, values))
  return (
    <>
      <SchemaFields {...fields} looks={OVERRIDE} />
      <div className={styles['pair']}>
        <SchemaFields
          {...fields}
          looks={{
            model: createModelLook(models, 'Unchanged'),
            maxIterations: { label: 'Maximum model calls', placeholder: 'Unchanged' },
          }}
        />
      </div>
      <div className={styles['pair']}>
        <SchemaFields {...fields} looks={createReviewLooks('Unchanged')} />
      </div>
      <div className={styles['pair']}>
        <PickField
          path={`${path}/tools/add`}
          label="Tools to add"
          add="Add tool"
          values={add}
          picks={toPicks(tools.map(({ name }) => name).filter((name) => !own.includes(name)))}
          onChange={(values) => setTools('add', values)}
        />
        <PickField
          path={`${path}/tools/remove`}
          label="Tools to remove"
          add="Remove tool"
          values={remove}
          picks={toPicks(own)}
          onChange={(values) => setTools('remove', values)}
        />
      </div>
    </>
  )
}

function createModelLook(models: readonly ModelInfo[], none: string): FieldLook {
  const choices = models.map(({ alias, provider }) => ({
    value: alias,
    label: `${alias} (${provider})`,
  }))
  return { label: 'Model', none, choices }
}

/**
 * Returns the review fields; `none` is the label of the empty choice for the review after the task.
 */
function createReviewLooks(none: string): FieldLooks {
  return {
    beforeReview: { label: 'Review before', none: 'Unchanged', choices: REVIEWS },
    review: { label: 'Review after', none, choices: REVIEWS },
  }
}

function toPicks(names: readonly string[]) {
  return names.map((name) => ({ value: name, label: name }))
}
