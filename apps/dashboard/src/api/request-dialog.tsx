/** A dialog that sends a request, with fields of its body and the errors of its validation. */
import { useMutation } from '@tanstack/react-query'
import { isJsonObject, type Problem } from '@tutti/protocol/internal'
import { useState, type ComponentProps } from 'react'

import { findFailureCode, findFailureProblems, readFailureText } from './failure.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { FormDialog } from '../ui/layout/form-dialog.tsx'
import { createFormDraft, type FormDraft } from '../ui/schema-form/form-draft.ts'
import { selectShownProblems } from '../ui/schema-form/placed-problems.ts'
import { isWithin } from '../ui/schema-form/pointer.ts'
import { FieldsForm } from '../ui/schema-form/schema-form.tsx'

/** A request that a form describes, or the problems of the form. */
export type CheckedRequest =
  | { readonly ok: true; readonly send: () => Promise<unknown> }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Value of a form by field. */
export type FormValue = Readonly<Record<string, unknown>>

/** A draft that outlives its dialog, and the function that replaces it. */
export type DraftState = readonly [draft: FormDraft, change: (draft: FormDraft) => void]

const NOTHING_VISITED: ReadonlySet<string> = new Set()

/** The dialog; `children` contain a `FieldAt` for each of `fields`. */
export function RequestDialog({
  title,
  submit,
  sending,
  failure = 'The request was rejected',
  kind,
  wide,
  isBlocked,
  schema,
  fields,
  aliases = {},
  initial = {},
  state,
  check,
  onSent,
  onClose,
  children,
}: Omit<ComponentProps<typeof FormDialog>, 'isBusy' | 'onSubmit'> & {
  /** Title of an error whose code has none. */
  readonly failure?: string
  /** Schema of the form. */
  readonly schema: object
  /** Pointers of the fields; other problems are shown above them. */
  readonly fields: readonly string[]
  /** Fields that show problems of other pointers. @default {} */
  readonly aliases?: Readonly<Record<string, string>>
  /** Value before any edit. @default {} */
  readonly initial?: FormValue
  /** @default a draft that ends with the dialog */
  readonly state?: DraftState
  readonly check: (value: FormValue) => CheckedRequest
  /** Called with the response, before the dialog closes. */
  readonly onSent?: (response: unknown) => void
}) {
  const own = useState(() => createFormDraft(initial))
  const [draft, change] = state ?? own
  const [wasSent, setSent] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (send: () => Promise<unknown>) => send(),
    networkMode: 'always',
    onSuccess(response) {
      onSent?.(response)
      onClose()
    },
  })
  const checked = check(readFormValue(draft))
  const found = checked.ok ? [] : checked.problems
  const refused = findFailureProblems(error)
  const problems = [
    // Empty fields are not reported before the first attempt to send.
    ...(wasSent ? found : selectShownProblems(found, draft.value, NOTHING_VISITED)),
    ...refused,
  ].map(({ path, message }) => ({ path: aliases[path] ?? path, message }))
  const others = problems.filter(({ path }) => !fields.some((field) => isWithin(path, field)))
  return (
    <FormDialog
      title={title}
      submit={submit}
      sending={sending}
      kind={kind}
      wide={wide}
      isBlocked={isBlocked}
      isBusy={isPending}
      onClose={onClose}
      onSubmit={() => {
        setSent(true)
        if (checked.ok) mutate(checked.send)
      }}
    >
      <Failure title={failure} error={refused.length > 0 ? null : error} others={others} />
      <FieldsForm
        schema={schema}
        draft={draft}
        problems={problems}
        onChange={(next) => {
          // The errors of the server referred to the previous values.
          reset()
          change(next)
        }}
      >
        {children}
      </FieldsForm>
    </FormDialog>
  )
}

/** Returns the value of a form; its fields make every value an object. */
export function readFormValue({ value }: FormDraft): FormValue {
  return isJsonObject(value) ? value : {}
}

function Failure({
  title,
  error,
  others,
}: {
  readonly title: string
  readonly error: Error | null
  readonly others: readonly Problem[]
}) {
  if (error === null && others.length === 0) return null
  return (
    <Notice tone="failed" title={TITLES[findFailureCode(error) ?? ''] ?? title}>
      {error !== null && <p>{readFailureText(error)}</p>}
      {others.map(({ path, message }) => (
        <p key={`${path} ${message}`}>{`${path} ${message}`.trim()}</p>
      ))}
    </Notice>
  )
}

/** Titles for error codes. */
const TITLES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'Your key can read runs, but not steer them',
  RUN_COMPLETED: 'The run has already ended',
  RUN_NOT_RUNNING: 'No process is executing the run at the moment',
  INVALID_MODEL: 'The server does not have this model',
  CONNECTION_FAILED: 'The server could not be reached; it may have received the request',
  TIMED_OUT: 'The server did not respond in time; it may have received the request',
  NOT_CONFIRMED: 'The command is stored, but the run has not applied it yet',
}
