/** The sections of the form, as the level asks for them. */
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { childPointer } from '../../ui/schema-form/pointer.ts'
import { BodyField } from './body-fields.tsx'
import {
  chosenEnsemble,
  type SubmissionLevel,
  type SubmissionDraft,
  type ChangeDraft,
  withField,
} from './draft.ts'
import { OptionsSection } from './options-section.tsx'
import { OutlineSection } from './outline-section.tsx'
import { OverridesSection } from './overrides-section.tsx'
import { TasksSection } from './tasks-section.tsx'
import { inputNames } from './variables.ts'
import styles from './submit.module.css'

import type { Capabilities, EnsembleInfo } from '@tutti/protocol'

const LEVELS: readonly { readonly value: SubmissionLevel; readonly label: string }[] = [
  { value: 'inputs', label: 'Inputs' },
  { value: 'overrides', label: 'Adjust tasks' },
  { value: 'tasks', label: 'Own tasks' },
]

const MEANINGS: Readonly<Record<SubmissionLevel, string>> = {
  inputs: 'The tasks of the ensemble run as they are, with these inputs.',
  overrides: 'The tasks of the ensemble run with changes for this run alone.',
  tasks: 'Tasks of your own run in place of those of the ensemble, with its model and limits.',
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
  const ensemble = chosenEnsemble(draft, ensembles)
  const inputs = <InputsSection draft={draft} ensembles={ensembles} change={change} />
  const [first] = ensembles
  return (
    <>
      <Panel>
        <div className={styles['fields']}>
          <BodyField
            path="/ensemble"
            label="Ensemble"
            none={`${first?.name ?? ''} (the first)`}
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
              label="How much the request says"
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
            path={childPointer('/inputs', name)}
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
