/** The dialog of a command: all fields of its body, or those that `children` render. */
import { decode } from '@tutti/protocol'
import { commandEntry, type CommandBody, type RunCommandKind } from '@tutti/protocol/internal'

import { useServer } from '../../api/server.ts'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { RequestDialog, type CheckedRequest, type FormValue } from '../../api/request-dialog.tsx'

import type { TuttiClient } from '@tutti/client'
import type { ComponentProps } from 'react'

/** Asks for the fields of the command and sends it. */
export function CommandDialog({
  kind,
  runId,
  toBody = (value) => value,
  children,
  ...rest
}: Partial<Omit<ComponentProps<typeof RequestDialog>, 'kind' | 'check' | 'onClose'>> & {
  readonly kind: RunCommandKind
  readonly runId: string
  /** Converts the value of the form to a body. @default the value */
  readonly toBody?: (value: FormValue) => FormValue
  readonly onClose: () => void
}) {
  const { client } = useServer()
  const { label = kind, route } = commandEntry(kind)
  const title = label.replace('…', '')
  const fields = Object.keys(route.body.properties).map((name) => `/${name}`)
  return (
    <RequestDialog
      title={title}
      submit={title}
      kind={kind === 'cancel' ? 'danger' : 'primary'}
      schema={route.body}
      fields={fields}
      check={(value) => checkCommand(client, { kind, target: runId, body: toBody(value) })}
      {...rest}
    >
      {children ?? fields.map((path) => <FieldAt key={path} path={path} />)}
    </RequestDialog>
  )
}

/** Checks a command against the schema of its body. */
export function checkCommand(
  client: TuttiClient,
  command: { readonly kind: RunCommandKind; readonly target: string; readonly body: FormValue },
): CheckedRequest {
  const { kind, target } = command
  const checked = decode(commandEntry(kind).route.body, command.body)
  if (!checked.ok) return checked
  const body: CommandBody<RunCommandKind> = checked.value
  return { ok: true, send: () => client.send({ kind, target, body }) }
}
