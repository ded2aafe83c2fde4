/** The inputs of a run: one field for each variable of the texts of its tasks. */
import { Panel } from '../../ui/layout/panel.tsx'
import { pointer } from '../../ui/schema-form/pointer.ts'
import { BodyField } from './body-fields.tsx'
import { withField, type SubmissionDraft, type ChangeDraft } from './draft.ts'
import styles from './submit.module.css'
import { inputNames } from './variables.ts'

import type { EnsembleInfo } from '@tutti/protocol'

/** The section. */
export function InputsSection({
  draft,
  ensembles,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly ensembles: readonly EnsembleInfo[]
  readonly change: ChangeDraft
}) {
  const { needed, perhaps } = inputNames(draft, ensembles)
  const names = [...needed, ...perhaps]
  return (
    <Panel title="Inputs">
      <div className={styles['fields']}>
        {names.length === 0 && (
          <p className={styles['soft']}>
            {draft.level === 'tasks'
              ? 'Write {name} in a task, and its value is asked for here.'
              : 'No task of this ensemble has a variable.'}
          </p>
        )}
        {names.map((name) => (
          <BodyField
            key={name}
            path={pointer('/inputs', name)}
            label={name}
            isRequired={needed.includes(name)}
            area="line"
            hint={needed.includes(name) ? undefined : 'Only if its expected output names it'}
            value={Object.hasOwn(draft.inputs, name) ? draft.inputs[name] : undefined}
            onChange={(value) =>
              change((before) => ({ ...before, inputs: withField(before.inputs, name, value) }))
            }
          />
        ))}
      </div>
    </Panel>
  )
}
