/** Forms of the values of a JSON Schema: generated as a whole, or with fields that are rendered one by one. */
import { useMemo, useRef, useState, type ReactNode } from 'react'

import { Field } from '../controls/field.tsx'
import { Segmented } from '../controls/segmented.tsx'
import { FieldView } from './field-view.tsx'
import { findPointer } from './focus-field.ts'
import { FormContext, type FormAccess } from './form-context.ts'
import {
  setDraftBroken,
  setDraftJson,
  removeDraftValue,
  setDraftValue,
  type FormDraft,
} from './form-draft.ts'
import { listFields, createFormField, type Choices } from './form-model.ts'
import { JsonEditor } from './json-editor.tsx'
import { findErrorsWithin, placeProblems, selectShownProblems } from './placed-problems.ts'
import { isWithin } from './pointer.ts'
import styles from './schema-form.module.css'

import type { Problem } from '@tutti/protocol/internal'

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

interface FormProps {
  readonly schema: object
  readonly draft: FormDraft
  readonly problems: readonly Problem[]
  readonly onChange: (draft: FormDraft) => void
}

/** Renders `children`, which contain a `FieldAt` for each field. All problems are shown, each at its field. */
export function FieldsForm({
  schema,
  draft,
  problems,
  onChange,
  children,
}: FormProps & { readonly children: ReactNode }) {
  const edits = useEdits(draft, onChange, true)
  const form: FormAccess = {
    ...edits,
    schema,
    errors: (pointer, isGroup) => findErrorsWithin(problems, pointer, isGroup),
  }
  return <FormContext value={form}>{children}</FormContext>
}

/** The form, with an editor of the same value as JSON. Problems are shown for visited fields, or for all with `showAll`. */
export function SchemaForm({
  schema,
  label,
  draft,
  problems,
  showAll = false,
  onChange,
}: FormProps & {
  /** Accessible name of the value. */
  readonly label: string
  readonly showAll?: boolean
}) {
  const [view, setView] = useState<'form' | 'json'>('form')
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const { choices, ...edits } = useEdits(draft, onChange, false)
  const field = useMemo(
    () => createFormField({ schema, label, value: draft.value, choices }),
    [schema, label, draft.value, choices],
  )
  const placed = useMemo(() => {
    const drawn = new Set(view === 'json' ? [''] : listFields(field).map(({ pointer }) => pointer))
    const visible = showAll ? problems : selectShownProblems(problems, draft.value, touched)
    return placeProblems(visible, drawn)
  }, [field, view, problems, showAll, draft.value, touched])
  const form: FormAccess = { ...edits, schema, errors: (pointer) => placed.get(pointer) ?? [] }
  return (
    <div
      role="group"
      aria-label={label}
      className={styles['form']}
      onBlur={({ target }) => {
        const path = findPointer(target)
        if (path !== undefined && !touched.has(path)) setTouched(new Set([...touched, path]))
      }}
    >
      <div className={styles['bar']}>
        <Segmented label={`${label} as`} value={view} segments={VIEWS} onChange={setView} />
      </div>
      <FormContext value={form}>
        {view === 'form' ? (
          <FieldView field={field} />
        ) : (
          <div data-pointer="">
            <Field label={`${label} as JSON`} errors={form.errors('')}>
              {(control) => (
                <JsonEditor
                  control={control}
                  value={draft.value}
                  text={draft.broken['']?.text}
                  rows={10}
                  onText={(text) => form.setJson('', text)}
                />
              )}
            </Field>
          </div>
        )}
      </FormContext>
    </div>
  )
}

/** Returns the changes of a draft, and the variants chosen in its unions. */
function useEdits(draft: FormDraft, onChange: (draft: FormDraft) => void, isFlat: boolean) {
  const [choices, setChoices] = useState<Choices>({})
  const latest = useRef(draft)
  latest.current = draft
  const change = (next: FormDraft): void => {
    // Another change may follow before the next rendering.
    latest.current = next
    onChange(next)
  }
  return {
    choices,
    isFlat,
    value: draft.value,
    broken: draft.broken,
    set: (path: string, value: unknown) => change(setDraftValue(latest.current, path, value)),
    remove(path: string) {
      setChoices(dropWithin(choices, path))
      change(removeDraftValue(latest.current, path, isFlat))
    },
    setJson: (path: string, text: string) => change(setDraftJson(latest.current, path, text)),
    setBroken: (path: string, broken: FormDraft['broken'][string]) =>
      change(setDraftBroken(latest.current, path, broken)),
    choose(path: string, variant: number, value: unknown) {
      setChoices({ ...dropWithin(choices, path), [path]: variant })
      change(setDraftValue(latest.current, path, value))
    },
  }
}

/** Drops the choices inside a part that has changed. */
function dropWithin(choices: Choices, outer: string): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([path]) => !isWithin(path, outer)))
}
