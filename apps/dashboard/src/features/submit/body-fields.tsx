/** Renders fields of a request body from their schema: choices, numbers and text. */
import { createContext, useContext } from 'react'

import { Field, type FieldControl } from '../../ui/controls/field.tsx'
import { Select, TextArea, TextInput } from '../../ui/controls/inputs.tsx'
import { formatProblemAt } from '../../ui/schema-form/placed-problems.ts'
import { isWithin } from '../../ui/schema-form/pointer.ts'
import { NumberInput } from '../../ui/schema-form/number-input.tsx'
import { asList, asEntries, type FormSchema } from '../../ui/schema-form/schema.ts'
import styles from './submit.module.css'

import type { Typed } from './draft.ts'
import type { Problem } from '@tutti/protocol/internal'

interface Choice {
  readonly value: string | boolean
  readonly label: string
}

/** Presentation of a field, in addition to its schema. */
export interface FieldLook {
  readonly label: string
  readonly hint?: string | undefined
  readonly placeholder?: string
  /** Label of the empty choice. */
  readonly none?: string
  /** Choices that are not in the schema. */
  readonly choices?: readonly Choice[]
  /** A multi-line text: `line` starts with one line, `tall` with two. */
  readonly area?: 'line' | 'tall'
  readonly isCode?: boolean
  readonly isRequired?: boolean
}

/** Value of a control; undefined when cleared. */
type FieldValue = string | number | boolean | undefined

/** Presentations by field name, in display order. */
export type FieldLooks = Readonly<Record<string, FieldLook>>

const YES_OR_NO: readonly Choice[] = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
]

/** Renders the fields of an object. */
export function SchemaFields({
  schema: { properties },
  looks,
  path,
  value,
  set,
}: {
  readonly schema: FormSchema
  readonly looks: FieldLooks
  readonly path: string
  readonly value: Typed
  readonly set: (field: string, value: FieldValue) => void
}) {
  const parts = new Map(asEntries(properties))
  return Object.entries(looks).map(([name, look]) => (
    <BodyField
      key={name}
      {...look}
      schema={parts.get(name) ?? {}}
      path={`${path}/${name}`}
      value={value[name]}
      onChange={(next) => set(name, next)}
    />
  ))
}

export function BodyField({
  schema = {},
  path,
  value,
  onChange,
  ...look
}: FieldLook & {
  /** Schema of the field; text if omitted. */
  readonly schema?: FormSchema
  readonly path: string
  readonly value: unknown
  readonly onChange: (value: FieldValue) => void
}) {
  const { label, hint, isRequired = false } = look
  const errors = useErrors(path)
  const choices = look.choices ?? listChoices(schema)
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  const typed = { value, look, onChange }
  return (
    <div data-pointer={path}>
      <Field label={label} hint={hint} required={isRequired} errors={errors}>
        {(control) =>
          choices !== undefined ? (
            <ChoiceControl {...typed} control={control} choices={choices} />
          ) : isNumber ? (
            <NumberInput
              value={value}
              control={control}
              {...(look.placeholder === undefined ? {} : { placeholder: look.placeholder })}
              onChange={onChange}
            />
          ) : (
            <TextControl {...typed} control={control} />
          )
        }
      </Field>
    </div>
  )
}

interface ControlProps {
  readonly control: FieldControl
  readonly value: unknown
  readonly look: FieldLook
  readonly onChange: (value: FieldValue) => void
}

/** A select. A value outside the choices is listed too. */
function ChoiceControl({
  control,
  choices,
  value,
  look,
  onChange,
}: ControlProps & { readonly choices: readonly Choice[] }) {
  const texts = choices.map((choice) => String(choice.value))
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <Select
      {...control}
      value={text}
      onChange={({ target }) => onChange(choices[texts.indexOf(target.value)]?.value)}
    >
      <option value="">{look.none}</option>
      {value !== undefined && !texts.includes(text) && (
        <option value={text}>{typeof value === 'string' ? value : 'Custom settings'}</option>
      )}
      {choices.map(({ label }, at) => (
        <option key={texts[at]} value={texts[at]}>
          {label}
        </option>
      ))}
    </Select>
  )
}

function TextControl({ control, value, look, onChange }: ControlProps) {
  const { area, isCode = false, placeholder } = look
  const props = {
    ...control,
    placeholder,
    value: typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value),
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(target.value === '' ? undefined : target.value),
  }
  if (area === undefined) return <TextInput {...props} autoComplete="off" />
  const isLine = area === 'line'
  return (
    <TextArea
      {...props}
      rows={isLine ? 1 : 2}
      className={isLine ? styles['line'] : undefined}
      code={isCode}
    />
  )
}

/** Returns the values of an enum with labels, such as `After every task` for `AFTER_EVERY_TASK`. */
function listChoices(schema: FormSchema): readonly Choice[] | undefined {
  if (schema.type === 'boolean') return YES_OR_NO
  if (schema.enum === undefined) return undefined
  return asList(schema.enum).map((option) => {
    const value = String(option)
    const label = value.replaceAll('_', ' ').toLowerCase()
    return { value, label: label.charAt(0).toUpperCase() + label.slice(1) }
  })
}

/** Provides the problems to show. */
export const ShownProblems = createContext<readonly Problem[]>([])

/**
 * Returns the problems at or inside a field; for a group, only those at the group itself or its
 * items.
 */
export function useErrors(path: string, { isGroup = false, items = 0 } = {}): readonly string[] {
  const problems = useContext(ShownProblems)
  const paths = [...Array.from({ length: items }, (_, at) => `${path}/${at}`), path]
  const errors = problems.flatMap((problem) => {
    const shownPath = paths.find((one) =>
      isGroup ? problem.path === one : isWithin(problem.path, one),
    )
    return shownPath === undefined ? [] : formatProblemAt(problem, shownPath)
  })
  return [...new Set(errors)]
}
