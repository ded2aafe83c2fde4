/** The default dialog of a command: a text field for each field of its body. */
import { useMutation } from '@tanstack/react-query'
import {
  commandEntry,
  readCommandBody,
  type CommandBody,
  type RunCommandKind,
} from '@tutti/protocol/internal'
import { useState } from 'react'

import { findFailureProblems } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { Field } from '../../ui/controls/field.tsx'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { pickOtherProblems, pickProblems } from './inject-form.ts'
import { SteerDialog } from './steer-dialog.tsx'

/** Asks for the fields of the command and sends it. */
export function CommandDialog({
  kind,
  runId: target,
  onClose,
}: {
  readonly kind: RunCommandKind
  readonly runId: string
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const { label = kind, route } = commandEntry(kind)
  const title = label.replace('…', '')
  const names = Object.keys(route.body.properties)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [wasSent, setSent] = useState(false)
  const checked = readCommandBody(kind, values)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: CommandBody<RunCommandKind>) => client.send({ kind, target, body }),
    networkMode: 'always',
    onSuccess: onClose,
  })
  const problems = wasSent && !checked.ok ? checked.problems : findFailureProblems(error)
  return (
    <SteerDialog
      title={title}
      submit={title}
      isBusy={isPending}
      error={problems.length > 0 ? undefined : (error ?? undefined)}
      more={pickOtherProblems(problems, names)}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        if (checked.ok) mutate(checked.value)
      }}
    >
      {names.map((name) => (
        <Field key={name} label={name} errors={pickProblems(problems, name)}>
          {(control) => (
            <TextInput
              {...control}
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </SteerDialog>
  )
}
