/** Edits the overrides of the ensemble's tasks. */
import { useState } from 'react'

import { Panel } from '../../ui/layout/panel.tsx'
import { findChosenOverrides, type OverrideDraft, type SubmissionDraft } from './draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Errors } from '../../ui/controls/field.tsx'
import { useForm } from '../../ui/schema-form/form-context.ts'
import { toChildPointer } from '../../ui/schema-form/pointer.ts'
import { OverrideFields } from './task-fields.tsx'
import styles from './submit.module.css'
import { TemplateText } from './outline-section.tsx'

import type { Capabilities, EnsembleInfo } from '@tutti/protocol'
import type { PreconfiguredTask } from '@tutti/protocol/internal'

export function OverridesSection({
  draft,
  ensemble,
  capabilities,
}: {
  readonly draft: SubmissionDraft
  readonly ensemble: EnsembleInfo
  readonly capabilities: Capabilities
}) {
  const overrides = findChosenOverrides(draft, capabilities.ensembles)
  const known = ensemble.tasks.map(({ name }) => name)
  const others = Object.keys(overrides).filter((name) => !known.includes(name))
  return (
    <Panel title="Tasks" flush>
      <div data-pointer="/taskOverrides">
        {[...known, ...others].map((name) => (
          <OverrideEditor
            key={name}
            name={name}
            task={ensemble.tasks.find((task) => task.name === name)}
            override={overrides[name]}
            inputs={draft.inputs}
            capabilities={capabilities}
          />
        ))}
      </div>
    </Panel>
  )
}

/** The editor; without `task`, the ensemble has no task with this name. */
function OverrideEditor({
  name,
  task,
  override,
  inputs,
  capabilities,
}: {
  readonly name: string
  readonly task: PreconfiguredTask | undefined
  readonly override: OverrideDraft | undefined
  readonly inputs: Readonly<Record<string, string>>
  readonly capabilities: Capabilities
}) {
  const path = toChildPointer('/taskOverrides', name)
  const { errors, remove } = useForm()
  const [wasChanged] = useState(override !== undefined)
  const given = override ?? {}
  return (
    <details className={styles['task']} open={wasChanged}>
      <summary data-pointer={path}>
        <span className={styles['title']}>{name}</span>
        <span className={styles['soft']}>{describeChanges(given)}</span>
      </summary>
      <div className={styles['fields']}>
        <Errors errors={errors(path, true)} />
        {task === undefined ? (
          <p className={styles['soft']}>
            The ensemble has no task with this name; the server looks for a task whose description
            starts with it.
          </p>
        ) : (
          <TemplateText text={task.description} inputs={inputs} />
        )}
        <OverrideFields path={path} own={task?.tools ?? []} capabilities={capabilities} />
        {override !== undefined && (
          <div>
            <Button size="s" onClick={() => remove(path)}>{`Reset ${name}`}</Button>
          </div>
        )}
      </div>
    </details>
  )
}

const LABELS: Readonly<Record<string, string>> = {
  description: 'description',
  expectedOutput: 'expected output',
  additionalContext: 'context',
  model: 'model',
  maxIterations: 'model calls',
  tools: 'tools',
  review: 'review after',
  beforeReview: 'review before',
}

function describeChanges(override: OverrideDraft): string {
  const names = Object.entries(LABELS).flatMap(([field, label]) => (field in override ? label : []))
  return names.length === 0 ? 'Unchanged' : `Changed: ${names.join(', ')}`
}
