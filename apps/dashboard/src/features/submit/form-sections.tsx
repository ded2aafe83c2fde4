/** The sections of the form for each level. */
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { toChildPointer } from '../../ui/schema-form/pointer.ts'
import { BodyField } from './body-fields.tsx'
import {
  findChosenEnsemble,
  type SubmissionLevel,
  type SubmissionDraft,
  type ChangeDraft,
  setField,
} from './draft.ts'
import { OptionsSection } from './options-section.tsx'
import { OutlineSection } from './outline-section.tsx'
import { OverridesSection } from './overrides-section.tsx'
import { TasksSection } from './tasks-section.tsx'
import { findInputNames } from './variables.ts'
import styles from './submit.module.css'

import type { Capabilities, EnsembleInfo } from '@tutti/protocol'

const LEVELS: readonly { readonly value: SubmissionLevel; readonly label: string }[] = [
  { value: 'inputs', label: 'Set inputs' },
  { value: 'overrides', label: 'Override tasks' },
  { value: 'tasks', label: 'Define tasks' },
]

const MEANINGS: Readonly<Record<SubmissionLevel, string>> = {
  inputs: 'Runs the tasks of the ensemble unchanged, with these inputs.',
  overrides: 'Runs the tasks of the ensemble with overrides for this run only.',
  tasks: 'Runs your own tasks instead, with the model and limits of the ensemble.',
}

export function FormSections({
  draft,
  capabilities,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly capabilities: Capabilities
  readonly change: ChangeDraft
}) {
  const { ensembles } = capabilities
  const ensemble = findChosenEnsemble(draft, ensembles)
  const inputs = <InputsSection draft={draft} ensembles={ensembles} change={change} />
  const [first] = ensembles
  return (
    <>
      <Panel>
        <div className={styles['fields']}>
          <BodyField
            path="/ensemble"
            label="Ensemble"
            none={`${first?.name ?? ''} (default)`}
            choices={ensembles.map(({ name }) => ({ value: name, label: name }))}
            value={draft.ensemble}
            hint={ensemble?.description}
            onChange={(name) =>
              change((before) => ({
                ...before,
                ensemble: name === undefined ? undefined : String(name),
              }))
            }
          />
          <div className={styles['level']}>
            <Segmented
              label="Level"
              value={draft.level}
              segments={LEVELS}
              onChange={(level) => change((before) => ({ ...before, level }))}
            />
            <p className={styles['soft']}>{MEANINGS[draft.level]}</p>
          </div>
        </div>
      </Panel>
      {draft.level !== 'tasks' && inputs}
      {draft.level === 'inputs' && ensemble !== undefined && (
        <OutlineSection ensemble={ensemble} inputs={draft.inputs} />
      )}
      {draft.level === 'overrides' && ensemble !== undefined && (
        <OverridesSection
          draft={draft}
          ensemble={ensemble}
          capabilities={capabilities}
          change={change}
        />
      )}
      {draft.level === 'tasks' && (
        <>
          <TasksSection draft={draft} capabilities={capabilities} change={change} />
          {inputs}
        </>
      )}
      <OptionsSection draft={draft} change={change} />
    </>
  )
}

function InputsSection({
  draft,
  ensembles,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly ensembles: readonly EnsembleInfo[]
  readonly change: ChangeDraft
}) {
  const { needed, perhaps } = findInputNames(draft, ensembles)
  const names = [...needed, ...perhaps]
  return (
    <Panel title="Inputs">
      <div className={styles['fields']}>
        {names.length === 0 && (
          <p className={styles['soft']}>
            {draft.level === 'tasks'
              ? 'Variables such as {name} in a task appear here.'
              : 'The tasks of this ensemble have no variables.'}
          </p>
        )}
        {names.map((name) => (
          <BodyField
            key={name}
            path={toChildPointer('/inputs', name)}
            label={name}
            isRequired={needed.includes(name)}
            area="line"
            hint={needed.includes(name) ? undefined : 'Needed only if an expected output uses it'}
            value={Object.hasOwn(draft.inputs, name) ? draft.inputs[name] : undefined}
            onChange={(value) =>
              change((before) => ({ ...before, inputs: setField(before.inputs, name, value) }))
            }
          />
        ))}
      </div>
    </Panel>
  )
}
