/** The dialog that sends a directive to the agents of a run. */
import { useMutation } from '@tanstack/react-query'
import { type RunState } from '@tutti/protocol'
import { Priority } from '@tutti/protocol/internal'
import { useState } from 'react'

import { findFailureProblems } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Select, TextArea, TextInput } from '../../ui/controls/inputs.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import {
  checkInject,
  NO_DIRECTIVE,
  pickOtherProblems,
  pickProblems,
  listTargets,
  TIMES_TO_LIVE,
  type InjectForm,
  type TextDirective,
} from './inject-form.ts'
import { SteerDialog } from './steer-dialog.tsx'
import styles from './steer-dialog.module.css'

const FIELDS = ['content', 'target', 'priority', 'ttl']

const PRIORITIES: Readonly<Record<Priority, string>> = {
  CRITICAL: 'Critical',
  HIGH: 'High',
  NORMAL: 'Normal',
  LOW: 'Low',
}

/** The dialog; its form belongs to the caller, so that it survives closing. */
export function InjectDialog({
  runId,
  state,
  form,
  onForm,
  onClose,
}: {
  readonly runId: string
  readonly state: RunState
  readonly form: InjectForm
  readonly onForm: (form: InjectForm) => void
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const [wasSent, setSent] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ content, ...how }: TextDirective) => client.runs.inject(runId, content, how),
    networkMode: 'always',
    onSuccess: () => {
      onForm(NO_DIRECTIVE)
      toast('Directive sent; the Steering tab shows when it is delivered')
      onClose()
    },
  })
  const checked = checkInject(form)
  const problems = [
    ...(checked.ok ? [] : checked.problems).filter(
      // Empty fields are not reported before the first attempt to send.
      ({ path }) => wasSent || (path === '/ttl' && form.customTtl !== ''),
    ),
    ...findFailureProblems(error),
  ]
  const change = (changed: Partial<InjectForm>): void => {
    // The errors of the server referred to the previous values.
    reset()
    onForm({ ...form, ...changed })
  }
  const hasFieldProblems = findFailureProblems(error).length > 0
  return (
    <SteerDialog
      title="Send a directive"
      submit="Send directive"
      isBusy={isPending}
      error={hasFieldProblems ? undefined : (error ?? undefined)}
      more={pickOtherProblems(problems, FIELDS)}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        if (checked.ok) mutate(checked.body)
      }}
    >
      <Field
        label="Directive"
        hint="Agents see it at their next model call. Calls in flight are not interrupted."
        errors={pickProblems(problems, 'content')}
        required
      >
        {(control) => (
          <TextArea
            {...control}
            data-autofocus
            value={form.content}
            onChange={({ target }) => change({ content: target.value })}
          />
        )}
      </Field>
      <div className={styles['row']}>
        <TargetField
          state={state}
          form={form}
          change={change}
          problems={pickProblems(problems, 'target')}
        />
        <PriorityField form={form} change={change} problems={pickProblems(problems, 'priority')} />
        <TimeField form={form} change={change} problems={pickProblems(problems, 'ttl')} />
      </div>
    </SteerDialog>
  )
}

interface PartProps {
  readonly form: InjectForm
  readonly change: (changed: Partial<InjectForm>) => void
  readonly problems: readonly string[]
}

function PriorityField({ form, change, problems }: PartProps) {
  return (
    <Field label="Priority" errors={problems}>
      {(control) => (
        <Select
          {...control}
          value={form.priority}
          onChange={({ target }) => {
            const priority = Priority.enum.find((one) => one === target.value)
            if (priority !== undefined) change({ priority })
          }}
        >
          {Priority.enum.map((one) => (
            <option key={one} value={one}>
              {PRIORITIES[one]}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

/** Selects how long the directive is valid. */
function TimeField({ form, change, problems }: PartProps) {
  const isCustom = form.ttl === 'custom'
  return (
    <>
      <Field label="Valid" errors={isCustom ? [] : problems}>
        {(control) => (
          <Select
            {...control}
            value={form.ttl}
            onChange={({ target }) => change({ ttl: target.value })}
          >
            {TIMES_TO_LIVE.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {isCustom && (
        <Field label="Duration" hint="ISO 8601, such as PT90S or PT2H30M" errors={problems}>
          {(control) => (
            <TextInput
              {...control}
              value={form.customTtl}
              onChange={({ target }) => change({ customTtl: target.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

function TargetField({ state, form, change, problems }: PartProps & { readonly state: RunState }) {
  const { tasks, roles } = listTargets(state)
  const hint =
    state.tasks.length === 0 ? 'Tasks are available once the run has started.' : undefined
  // A task that has ended meanwhile stays selected, and the server reports it.
  const isGone = form.target !== '' && ![...tasks, ...roles].includes(form.target)
  return (
    <Field label="Target" hint={hint} errors={problems}>
      {(control) => (
        <Select
          {...control}
          value={form.target}
          onChange={({ target }) => change({ target: target.value })}
        >
          <option value="">Whole run</option>
          {isGone && <option value={form.target}>{`${form.target} (ended)`}</option>}
          {tasks.length > 0 && (
            <optgroup label="Tasks">
              {tasks.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </optgroup>
          )}
          {roles.length > 0 && (
            <optgroup label="Roles">
              {roles.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </optgroup>
          )}
        </Select>
      )}
    </Field>
  )
}
