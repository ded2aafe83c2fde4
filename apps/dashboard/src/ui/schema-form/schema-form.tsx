/** A form generated from a JSON Schema, with an editor of the same value as JSON. */
import { useMemo, useRef, useState } from 'react'

import { Field } from '../controls/field.tsx'
import { Segmented } from '../controls/segmented.tsx'
import { FieldView } from './field-view.tsx'
import { findPointer } from './focus-field.ts'
import { FormContext, type FormAccess } from './form-context.ts'
import { setDraftJson, removeDraftValue, setDraftValue, type FormDraft } from './form-draft.ts'
import { listFields, createFormField, type Choices } from './form-model.ts'
import { JsonEditor } from './json-editor.tsx'
import { placeProblems, selectShownProblems } from './placed-problems.ts'
import { isWithin } from './pointer.ts'
import styles from './schema-form.module.css'

import type { Problem } from '@tutti/protocol/internal'

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

/** The form. `problems` are shown for visited fields, or for all with `showAll`. */
export function SchemaForm({
  schema,
  label,
  draft,
  problems,
  showAll = false,
  onChange,
}: {
  readonly schema: object
  /** Accessible name of the value. */
  readonly label: string
  readonly draft: FormDraft
  readonly problems: readonly Problem[]
  readonly showAll?: boolean
  readonly onChange: (draft: FormDraft) => void
}) {
  const [view, setView] = useState<'form' | 'json'>('form')
  const [choices, setChoices] = useState<Choices>({})
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const latest = useRef(draft)
  latest.current = draft
  const field = useMemo(
    () => createFormField({ schema, value: draft.value, choices }),
    [schema, draft.value, choices],
  )
  const placed = useMemo(() => {
    const drawn = new Set(view === 'json' ? [''] : listFields(field).map(({ pointer }) => pointer))
    const visible = showAll ? problems : selectShownProblems(problems, draft.value, touched)
    return placeProblems(visible, drawn)
  }, [field, view, problems, showAll, draft.value, touched])
  const form: FormAccess = {
    schema,
    problems: placed,
    broken: draft.broken,
    set: (path, value) => onChange(setDraftValue(latest.current, path, value)),
    remove(path) {
      setChoices(dropWithin(choices, path))
      onChange(removeDraftValue(latest.current, path))
    },
    setJson: (path, text) => onChange(setDraftJson(latest.current, path, text)),
    choose(path, variant, value) {
      setChoices({ ...dropWithin(choices, path), [path]: variant })
      onChange(setDraftValue(latest.current, path, value))
    },
  }
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
            <Field label={`${label} as JSON`} errors={placed.get('') ?? []}>
              {(control) => (
                <JsonEditor
                  control={control}
                  value={draft.value}
                  text={draft.broken['']}
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

/** Drops the choices inside a part that has changed. */
function dropWithin(choices: Choices, outer: string): Choices {
  return Object.fromEntries(Object.entries(choices).filter(([path]) => !isWithin(path, outer)))
}
