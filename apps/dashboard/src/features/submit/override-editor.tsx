/** What changes in one task of the ensemble for this run. */
import { useState } from 'react'

import { Button } from '../../ui/controls/button.tsx'
import { pointer } from '../../ui/schema-form/pointer.ts'
import { useErrors } from './form-errors.ts'
import { withField, type OverrideDraft } from './draft.ts'
import { OverrideFields } from './override-fields.tsx'
import styles from './submit.module.css'
import { TemplateText } from './template-text.tsx'

import type { Capabilities, PreconfiguredTask } from '@tutti/protocol'

/** The editor; without `task` the changes are of a task that the ensemble does not have by this name. */
export function OverrideEditor({
  name,
  task,
  override,
  inputs,
  capabilities,
  onChange,
}: {
  readonly name: string
  readonly task: PreconfiguredTask | undefined
  readonly override: OverrideDraft | undefined
  readonly inputs: Readonly<Record<string, string>>
  readonly capabilities: Capabilities
  /** Undefined takes every change back. */
  readonly onChange: (override: OverrideDraft | undefined) => void
}) {
  const path = pointer('/taskOverrides', name)
  const errors = useErrors(path)
  const [wasChanged] = useState(override !== undefined)
  const given = override ?? {}
  const set = <K extends keyof OverrideDraft>(field: K, value: OverrideDraft[K]): void => {
    const next = withField(given, field, value)
    onChange(Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <details className={styles['task']} open={wasChanged}>
      <summary data-pointer={path}>
        <span className={styles['title']}>{name}</span>
        <span className={styles['soft']}>{changesOf(given)}</span>
      </summary>
      <div className={styles['fields']}>
        {errors.map((error) => (
          <p key={error} className={styles['errors']}>
            {error}
          </p>
        ))}
        {task === undefined ? (
          <p className={styles['soft']}>
            The ensemble has no task of this name; the server looks for one whose description begins
            with it.
          </p>
        ) : (
          <TemplateText text={task.description} inputs={inputs} />
        )}
        <OverrideFields
          path={path}
          own={task?.tools ?? []}
          override={given}
          capabilities={capabilities}
          set={set}
        />
        {override !== undefined && (
          <div>
            <Button size="s" onClick={() => onChange(undefined)}>{`Leave ${name} as it is`}</Button>
          </div>
        )}
      </div>
    </details>
  )
}

const WORDS: Readonly<Record<keyof OverrideDraft, string>> = {
  description: 'description',
  expectedOutput: 'expected output',
  additionalContext: 'context',
  model: 'model',
  maxIterations: 'model calls',
  tools: 'tools',
  review: 'review after it',
  beforeReview: 'review before it',
}

function changesOf(override: OverrideDraft): string {
  const names = Object.entries(WORDS).flatMap(([field, word]) => (field in override ? word : []))
  return names.length === 0 ? 'As it is' : `Changed: ${names.join(', ')}`
}
