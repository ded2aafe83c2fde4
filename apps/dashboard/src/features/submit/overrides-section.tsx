/** The tasks of the ensemble, each with what changes in it for this run. */
import { useState } from 'react'

import { Panel } from '../../ui/layout/panel.tsx'
import {
  chosenOverrides,
  withField,
  type OverrideDraft,
  type SubmissionDraft,
  type ChangeDraft,
} from './draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { childPointer } from '../../ui/schema-form/pointer.ts'
import { useErrors } from './body-fields.tsx'
import { OverrideFields } from './task-fields.tsx'
import styles from './submit.module.css'
import { TemplateText } from './outline-section.tsx'

import type { Capabilities, EnsembleInfo, PreconfiguredTask } from '@tutti/protocol'

export function OverridesSection({
  draft,
  ensemble,
  capabilities,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly ensemble: EnsembleInfo
  readonly capabilities: Capabilities
  readonly change: ChangeDraft
}) {
  const overrides = chosenOverrides(draft, capabilities.ensembles)
  const known = ensemble.tasks.map(({ name }) => name)
  const others = Object.keys(overrides).filter((name) => !known.includes(name))
  const set = (name: string, override: OverrideDraft | undefined): void =>
    change((before) => ({
      ...before,
      overrides: {
        ...before.overrides,
        [ensemble.name]: withField(chosenOverrides(before, capabilities.ensembles), name, override),
      },
    }))
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
            onChange={(override) => set(name, override)}
          />
        ))}
      </div>
    </Panel>
  )
}

/** The editor; without `task` the changes are of a task that the ensemble does not have by this name. */
function OverrideEditor({
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
  const path = childPointer('/taskOverrides', name)
  const errors = useErrors(path, { isGroup: true })
  const [wasChanged] = useState(override !== undefined)
  const given = override ?? {}
  const set = (field: string, value: unknown): void => {
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

const LABELS: Readonly<Record<string, string>> = {
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
  const names = Object.entries(LABELS).flatMap(([field, label]) => (field in override ? label : []))
  return names.length === 0 ? 'As it is' : `Changed: ${names.join(', ')}`
}
