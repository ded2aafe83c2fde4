/** Sends the next model calls of a run, or of one task, to another model. */
import { useMutation } from '@tanstack/react-query'
import { decode, SwitchModelBody, type ModelInfo, type RunState } from '@tutti/protocol'
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
  const models = capabilities.data?.models ?? []
  const [taskName, setTask] = useState('')
  const [chosen, setChosen] = useState('')
  const [wasSent, setSent] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ model, ...how }: SwitchModelBody) => client.runs.switchModel(runId, model, how),
    networkMode: 'always',
    onSuccess: ({ model }) => {
      toast(`Switched to ${model} from the next model call on`)
      onClose()
    },
  })
  const change = (make: () => void): void => {
    // What the server said was about the choice before.
    reset()
    make()
  }
  const checked = decode(SwitchModelBody, {
    model: chosen,
    ...(taskName === '' ? {} : { taskName }),
  })
  const ofServer = failureProblems(error)
  const problems = [...(wasSent && !checked.ok ? checked.problems : []), ...ofServer]
  const now = currentModels(state, taskName === '' ? undefined : taskName)
  const hasNone = capabilities.data !== undefined && models.length === 0
  return (
    <SteerDialog
      title="Switch the model"
      submit="Switch"
      isBusy={isPending}
      isBlocked={hasNone || capabilities.data === undefined}
      error={ofServer.length > 0 ? undefined : (error ?? undefined)}
      more={otherProblems(problems, ['model', 'taskName'])}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        if (checked.ok) mutate(checked.value)
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
      {hasNone && <Notice title="The server offers no models to choose from" />}
      {models.length > 0 && (
        <div className={styles['row']}>
          <ScopeField
            tasks={targetsOf(state).tasks}
            value={taskName}
            errors={problemsOf(problems, 'taskName')}
            onChange={(name) => change(() => setTask(name))}
          />
          <ModelField
            models={models}
            value={chosen}
            now={now}
            errors={chosen === '' && wasSent ? ['Choose a model'] : problemsOf(problems, 'model')}
            onChange={(model) => change(() => setChosen(model))}
          />
        </div>
      )}
    </SteerDialog>
  )
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
  models,
  value,
  now,
  errors,
  onChange,
}: {
  readonly models: readonly ModelInfo[]
  readonly value: string
  /** What is used at this moment. */
  readonly now: readonly string[]
  readonly errors: readonly string[]
  readonly onChange: (alias: string) => void
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
          {models.map(({ alias, provider }) => (
            <option key={alias} value={alias}>
              {`${alias} (${provider})`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
