/** The fields of a task: of one defined by the request, or of overrides. */
import { useState } from 'react'

import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { formatTaskTitle, type TaskDraft } from './draft.ts'
import styles from './submit.module.css'

import type { FieldChoice } from '../../ui/schema-form/field-look.ts'
import type { Capabilities } from '@tutti/protocol'

const CONTEXT_HINT = 'Added to the context of the agent'
const REVIEWS: readonly FieldChoice[] = [
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
}: {
  readonly path: string
  readonly task: TaskDraft
  readonly tasks: readonly TaskDraft[]
  readonly capabilities: Capabilities
}) {
  const [isFoldOpen] = useState(() => FOLDED.some((field) => task[field] !== undefined))
  return (
    <div className={styles['fields']}>
      <FieldAt path={`${path}/name`} placeholder="Derived from the description" />
      <FieldAt
        path={`${path}/description`}
        isRequired
        rows={2}
        placeholder="What the agent should do; {name} inserts an input"
      />
      <FieldAt path={`${path}/expectedOutput`} rows={1} />
      <div className={styles['pair']}>
        <FieldAt
          path={`${path}/context`}
          label="Depends on"
          hint="Tasks whose output it gets"
          none="Add task"
          choices={tasks.flatMap((other, at) =>
            other.key === task.key ? [] : { value: other.key, label: formatTaskTitle(other, at) },
          )}
        />
        <FieldAt path={`${path}/tools`} none="Add tool" choices={listNames(tools)} />
      </div>
      <ModelField path={path} models={models} none="Ensemble default" />
      <details className={styles['fold']} open={isFoldOpen}>
        <summary>More settings</summary>
        <div className={styles['fields']}>
          <FieldAt path={`${path}/additionalContext`} hint={CONTEXT_HINT} rows={1} />
          <FieldAt
            path={`${path}/outputSchema`}
            hint="JSON Schema that the output must match"
            rows={2}
            isCode
          />
          <ReviewFields path={path} none="Review policy" />
          <div className={styles['pair']}>
            <CallsField path={path} placeholder="25" />
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
  capabilities: { tools, models },
}: {
  readonly path: string
  readonly own: readonly string[]
  readonly capabilities: Capabilities
}) {
  return (
    <>
      <FieldAt path={`${path}/description`} hint="Replaces the one above" rows={1} />
      <FieldAt path={`${path}/expectedOutput`} rows={1} />
      <FieldAt path={`${path}/additionalContext`} hint={CONTEXT_HINT} rows={1} />
      <div className={styles['pair']}>
        <ModelField path={path} models={models} none="Unchanged" />
        <CallsField path={path} placeholder="Unchanged" />
      </div>
      <ReviewFields path={path} none="Unchanged" />
      <div className={styles['pair']}>
        <FieldAt
          path={`${path}/tools/add`}
          label="Tools to add"
          none="Add tool"
          choices={listNames(tools.filter(({ name }) => !own.includes(name)))}
        />
        <FieldAt
          path={`${path}/tools/remove`}
          label="Tools to remove"
          none="Remove tool"
          choices={listNames(own.map((name) => ({ name })))}
        />
      </div>
    </>
  )
}

function ModelField({
  path,
  models,
  none,
}: Pick<Capabilities, 'models'> & { readonly path: string; readonly none: string }) {
  const choices = models.map(({ alias, provider }) => ({
    value: alias,
    label: `${alias} (${provider})`,
  }))
  return <FieldAt path={`${path}/model`} none={none} choices={choices} />
}

function CallsField({
  path,
  placeholder,
}: {
  readonly path: string
  readonly placeholder: string
}) {
  return (
    <FieldAt path={`${path}/maxIterations`} label="Maximum model calls" placeholder={placeholder} />
  )
}

/** The review fields; `none` is the label of the empty choice for the review after the task. */
function ReviewFields({ path, none }: { readonly path: string; readonly none: string }) {
  return (
    <div className={styles['pair']}>
      <FieldAt
        path={`${path}/beforeReview`}
        label="Review before"
        none="Unchanged"
        choices={REVIEWS}
      />
      <FieldAt path={`${path}/review`} label="Review after" none={none} choices={REVIEWS} />
    </div>
  )
}

function listNames(named: readonly { readonly name: string }[]): readonly FieldChoice[] {
  return named.map(({ name }) => ({ value: name, label: name }))
}
