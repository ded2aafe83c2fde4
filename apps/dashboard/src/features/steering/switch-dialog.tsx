/** Sends the next model calls of a run, or of one task, to another model, a tier or that of a profile. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { failureProblems, failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Select } from '../../ui/controls/inputs.tsx'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { currentModels } from './can-steer.ts'
import { otherProblems, problemsOf, targetsOf } from './inject-form.ts'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

import type { TuttiClient } from '@tutti/client'
import type { RunState, Capabilities } from '@tutti/protocol'

/** The dialog, with what is used now. */
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
  const groups = capabilities.data === undefined ? [] : switchGroups(capabilities.data)
  const [taskName, setTask] = useState('')
  const [chosen, setChosen] = useState('')
  const [wasSent, setSent] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (target: SwitchTarget) => switchTo(client, { runId, taskName, target }),
    networkMode: 'always',
    onSuccess: (_, { kind, name }) => {
      toast(`Switched to ${kind === 'model' ? '' : `${kind} `}${name} from the next model call on`)
      onClose()
    },
  })
  const change = (make: () => void): void => {
    // What the server said was about the choice before.
    reset()
    make()
  }
  const problems = failureProblems(error)
  return (
    <SteerDialog
      title="Switch the model"
      submit="Switch"
      isBusy={isPending}
      isBlocked={capabilities.data === undefined}
      error={problems.length > 0 ? undefined : (error ?? undefined)}
      more={otherProblems(problems, ['model', 'taskName'])}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        const target = readTarget(chosen)
        if (target !== undefined) mutate(target)
      }}
    >
      <p className={styles['soft']}>
        The next model calls go to it. A call in flight ends with the model it began with.
      </p>
      {capabilities.isPending && <Loading label="Reading the models" />}
      {capabilities.error !== null && (
        <Notice tone="failed" title="The models could not be read">
          {failureText(capabilities.error)}
        </Notice>
      )}
      {groups.length > 0 && (
        <div className={styles['row']}>
          <ScopeField
            tasks={targetsOf(state).tasks}
            value={taskName}
            errors={problemsOf(problems, 'taskName')}
            onChange={(name) => change(() => setTask(name))}
          />
          <ModelField
            groups={groups}
            value={chosen}
            now={nowWords(state, taskName)}
            errors={
              chosen === '' && wasSent
                ? ['Choose a model, a tier or a profile']
                : problemsOf(problems, 'model')
            }
            onChange={(target) => change(() => setChosen(target))}
          />
        </div>
      )}
    </SteerDialog>
  )
}

/** Sends a switch of the run, or of the task when one is named. */
function switchTo(
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

/** Models in use at this moment, with the tier and the profile of the run. */
function nowWords(state: RunState, taskName: string): readonly string[] {
  const { modelTier, profile } = state
  const models = currentModels(state, taskName === '' ? undefined : taskName)
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
    <Field label="Of" errors={errors}>
      {(control) => (
        <Select
          {...control}
          data-autofocus
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          <option value="">the whole run</option>
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
  /** What is used at this moment. */
  readonly now: readonly string[]
  readonly errors: readonly string[]
  readonly onChange: (value: string) => void
}) {
  return (
    <Field
      label="To"
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

/** One entry of the list. */
interface SwitchOption {
  /** Value of the entry; {@link readTarget} reads it. */
  readonly value: string
  readonly label: string
}

/** A heading of the list with its entries. */
interface SwitchGroup {
  readonly label: string
  readonly options: readonly SwitchOption[]
}

/** The list, without headings that have no entries. */
export function switchGroups({
  models,
  modelTiers = [],
  profiles = [],
}: Pick<Capabilities, 'models' | 'modelTiers' | 'profiles'>): readonly SwitchGroup[] {
  const hasFallback = modelTiers.some(({ name }) => name.toLowerCase() === 'fallback')
  const groups: readonly SwitchGroup[] = [
    {
      label: 'Models',
      options: models.map(({ alias, provider }) =>
        option('model', alias, `${alias} (${provider})`),
      ),
    },
    {
      label: 'Tiers',
      options: [
        option('tier', 'PRIMARY', 'primary (the models of the tasks)'),
        ...(hasFallback ? [] : [option('tier', 'FALLBACK', 'fallback (the fallback models)')]),
        ...modelTiers.map(({ name, model }) => option('tier', name, `${name} (${model})`)),
      ],
    },
    {
      label: 'Profiles',
      options: profiles.flatMap(({ name, modelTier }) =>
        modelTier === undefined ? [] : option('profile', name, `${name} (tier ${modelTier})`),
      ),
    },
  ]
  return groups.filter(({ options }) => options.length > 0)
}

/** The target that the value of an entry names; undefined for none. */
export function readTarget(value: string): SwitchTarget | undefined {
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

function option(kind: SwitchTarget['kind'], name: string, label: string): SwitchOption {
  return { value: `${kind}:${name}`, label }
}
