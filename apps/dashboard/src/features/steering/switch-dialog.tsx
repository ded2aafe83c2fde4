/** The dialog that switches the model of a run or a task, to a model, a tier or a profile. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { findFailureProblems, readFailureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Select } from '../../ui/controls/inputs.tsx'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { findCurrentModels } from './can-steer.ts'
import { pickOtherProblems, pickProblems, listTargets } from './inject-form.ts'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

import type { TuttiClient } from '@tutti/client'
import type { RunState, Capabilities } from '@tutti/protocol'

/** The dialog, with the models in use. */
export function SwitchDialog({
  runId,
  state,
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const capabilities = useCapabilities()
  const groups = capabilities.data === undefined ? [] : listSwitchGroups(capabilities.data)
  const [taskName, setTask] = useState('')
  const [chosen, setChosen] = useState('')
  const [wasSent, setSent] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (target: SwitchTarget) => sendSwitch(client, { runId, taskName, target }),
    networkMode: 'always',
    onSuccess: (_, { kind, name }) => {
      toast(`Switched to ${kind === 'model' ? '' : `${kind} `}${name} from the next model call`)
      onClose()
    },
  })
  const change = (make: () => void): void => {
    // The errors of the server referred to the previous choice.
    reset()
    make()
  }
  const problems = findFailureProblems(error)
  return (
    <SteerDialog
      title="Switch model"
      submit="Switch"
      isBusy={isPending}
      isBlocked={capabilities.data === undefined}
      error={problems.length > 0 ? undefined : (error ?? undefined)}
      more={pickOtherProblems(problems, ['model', 'taskName'])}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        const target = parseSwitchTarget(chosen)
        if (target !== undefined) mutate(target)
      }}
    >
      <p className={styles['soft']}>
        The new model is used from the next model call on. Calls in flight are not affected.
      </p>
      {capabilities.isPending && <Loading label="Loading models" />}
      {capabilities.error !== null && (
        <Notice tone="failed" title="Failed to load the models">
          {readFailureText(capabilities.error)}
        </Notice>
      )}
      {groups.length > 0 && (
        <div className={styles['row']}>
          <ScopeField
            tasks={listTargets(state).tasks}
            value={taskName}
            errors={pickProblems(problems, 'taskName')}
            onChange={(name) => change(() => setTask(name))}
          />
          <ModelField
            groups={groups}
            value={chosen}
            now={describeCurrent(state, taskName)}
            errors={
              chosen === '' && wasSent
                ? ['Choose a model, a tier or a profile']
                : pickProblems(problems, 'model')
            }
            onChange={(target) => change(() => setChosen(target))}
          />
        </div>
      )}
    </SteerDialog>
  )
}

/** Sends a switch of the run, or of a task if one is named. */
function sendSwitch(
  { runs }: TuttiClient,
  to: { readonly runId: string; readonly taskName: string; readonly target: SwitchTarget },
): Promise<unknown> {
  const { runId, taskName, target } = to
  const { kind, name } = target
  const isOfRun = taskName === ''
  if (kind === 'profile') {
    const action = { action: 'APPLY_PROFILE', value: name } as const
    return runs.inject(runId, action, isOfRun ? {} : { target: taskName })
  }
  const model = kind === 'tier' ? { tier: name } : name
  return runs.switchModel(runId, model, isOfRun ? {} : { taskName })
}

/** Returns the models in use, with the tier and the profile of the run. */
function describeCurrent(state: RunState, taskName: string): readonly string[] {
  const { modelTier, profile } = state
  const models = findCurrentModels(state, taskName === '' ? undefined : taskName)
  return [
    ...models,
    ...(modelTier === undefined ? [] : [`tier ${modelTier}`]),
    ...(profile === undefined ? [] : [`profile ${profile}`]),
  ]
}

function ScopeField({
  tasks,
  value,
  errors,
  onChange,
}: {
  readonly tasks: readonly string[]
  readonly value: string
  readonly errors: readonly string[]
  readonly onChange: (taskName: string) => void
}) {
  return (
    <Field label="Target" errors={errors}>
      {(control) => (
        <Select
          {...control}
          data-autofocus
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          <option value="">Whole run</option>
          {tasks.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function ModelField({
  groups,
  value,
  now,
  errors,
  onChange,
}: {
  readonly groups: readonly SwitchGroup[]
  readonly value: string
  /** Models in use. */
  readonly now: readonly string[]
  readonly errors: readonly string[]
  readonly onChange: (value: string) => void
}) {
  return (
    <Field
      label="Switch to"
      hint={now.length === 0 ? undefined : `Now: ${now.join(', ')}`}
      errors={errors}
    >
      {(control) => (
        <Select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">Choose…</option>
          {groups.map(({ label, options }) => (
            <optgroup key={label} label={label}>
              {options.map((option) => (
                <option key={option.value} value={option.value}>
                  {option.label}
                </option>
              ))}
            </optgroup>
          ))}
        </Select>
      )}
    </Field>
  )
}

type SwitchTarget =
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'tier'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }

/** An entry of the list. */
interface SwitchOption {
  /** Value of the entry, parsed by {@link parseSwitchTarget}. */
  readonly value: string
  readonly label: string
}

/** A group of the list. */
interface SwitchGroup {
  readonly label: string
  readonly options: readonly SwitchOption[]
}

/** Returns the list, without empty groups. */
export function listSwitchGroups({
  models,
  modelTiers,
  profiles,
}: Pick<Capabilities, 'models' | 'modelTiers' | 'profiles'>): readonly SwitchGroup[] {
  const hasFallback = modelTiers.some(({ name }) => name.toLowerCase() === 'fallback')
  const groups: readonly SwitchGroup[] = [
    {
      label: 'Models',
      options: models.map(({ alias, provider }) =>
        createOption('model', alias, `${alias} (${provider})`),
      ),
    },
    {
      label: 'Tiers',
      options: [
        createOption('tier', 'PRIMARY', 'primary (the models of the tasks)'),
        ...(hasFallback
          ? []
          : [createOption('tier', 'FALLBACK', 'fallback (the fallback models)')]),
        ...modelTiers.map(({ name, model }) => createOption('tier', name, `${name} (${model})`)),
      ],
    },
    {
      label: 'Profiles',
      options: profiles.flatMap(({ name, modelTier }) =>
        modelTier === undefined ? [] : createOption('profile', name, `${name} (tier ${modelTier})`),
      ),
    },
  ]
  return groups.filter(({ options }) => options.length > 0)
}

/** Parses the value of an entry; undefined if it is invalid. */
export function parseSwitchTarget(value: string): SwitchTarget | undefined {
  const [, kind, name = ''] = /^(model|tier|profile):(.*)$/s.exec(value) ?? []
  switch (kind) {
    case 'model':
    case 'tier':
    case 'profile':
      return { kind, name }
    default:
      return undefined
  }
}

function createOption(kind: SwitchTarget['kind'], name: string, label: string): SwitchOption {
  return { value: `${kind}:${name}`, label }
}
