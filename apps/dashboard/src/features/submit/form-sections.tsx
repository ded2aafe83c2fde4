/** The sections of the form for each level. */
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { toChildPointer } from '../../ui/schema-form/pointer.ts'
import { FieldsForm } from '../../ui/schema-form/schema-form.tsx'
import { DRAFT_SCHEMA, fromFormDraft, toFormDraft } from './draft-form.ts'
import {
  findChosenEnsemble,
  type SubmissionLevel,
  type SubmissionDraft,
  type ChangeDraft,
} from './draft.ts'
import { OptionsSection } from './options-section.tsx'
import { OutlineSection } from './outline-section.tsx'
import { OverridesSection } from './overrides-section.tsx'
import { TasksSection } from './tasks-section.tsx'
import { findInputNames } from './variables.ts'
import styles from './submit.module.css'

import type { Capabilities, EnsembleInfo } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

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
  submission: { draft, change },
  capabilities,
  problems,
}: {
  readonly submission: { readonly draft: SubmissionDraft; readonly change: ChangeDraft }
  readonly capabilities: Capabilities
  /** Problems to show at their fields. */
  readonly problems: readonly Problem[]
}) {
  const { ensembles } = capabilities
  const ensemble = findChosenEnsemble(draft, ensembles)
  const inputs = <InputsSection draft={draft} ensembles={ensembles} />
  const [first] = ensembles
  return (
    <FieldsForm
      schema={DRAFT_SCHEMA}
      draft={toFormDraft(draft, ensembles)}
      problems={problems}
      onChange={(next) => change((before) => fromFormDraft(before, next, ensembles))}
    >
      <Panel>
        <div className={styles['fields']}>
          <FieldAt
            path="/ensemble"
            none={`${first?.name ?? ''} (default)`}
            choices={ensembles.map(({ name }) => ({ value: name, label: name }))}
            hint={ensemble?.description}
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
        <OverridesSection draft={draft} ensemble={ensemble} capabilities={capabilities} />
      )}
      {draft.level === 'tasks' && (
        <>
          <TasksSection draft={draft} capabilities={capabilities} change={change} />
          {inputs}
        </>
      )}
      <OptionsSection draft={draft} />
    </FieldsForm>
  )
}

function InputsSection({
  draft,
  ensembles,
}: {
  readonly draft: SubmissionDraft
  readonly ensembles: readonly EnsembleInfo[]
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
          <FieldAt
            key={name}
            path={toChildPointer('/inputs', name)}
            label={name}
            isRequired={needed.includes(name)}
            rows={1}
            hint={needed.includes(name) ? undefined : 'Needed only if an expected output uses it'}
          />
        ))}
      </div>
    </Panel>
  )
}
