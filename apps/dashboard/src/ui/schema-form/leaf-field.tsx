/** Renders a field with a single value: text, number, boolean or choice. */
import { Field, type FieldControl } from '../controls/field.tsx'
import { Checkbox, Select, TextArea, TextInput } from '../controls/inputs.tsx'
import { useForm } from './form-context.ts'
import { NumberInput } from './number-input.tsx'
import { RadioField } from './radio-field.tsx'
import styles from './schema-form.module.css'

import type { ReactElement, ReactNode } from 'react'

import type { FieldChoice, FieldLook } from './field-look.ts'
import type { FormField, TextInputKind } from './form-model.ts'

/** Field kinds with a single value. */
export type Leaf = Extract<FormField, { readonly kind: 'text' | 'number' | 'boolean' | 'choice' }>

export function LeafField({ field }: { readonly field: Leaf }) {
  const { errors, set, remove, isFlat } = useForm()
  const { pointer, value, isRequired, isItem, isNullable, look } = field
  const isNull = isNullable && value === null && !isItem
  const clear = (): void => {
    if (isItem) set(pointer, field.kind === 'text' ? '' : null)
    else if (isRequired && field.kind === 'text' && !isFlat) set(pointer, '')
    else remove(pointer)
  }
  if (look.isRadio === true) return <RadioField field={field} />
  return (
    <div data-pointer={pointer}>
      <Field
        label={field.label}
        required={isRequired && !isItem}
        hint={[field.description, field.hint].filter(Boolean).join(' · ') || undefined}
        errors={errors(pointer)}
        aside={
          look.aside ??
          (isNullable && !isItem && (
            <Checkbox
              className={styles['null']}
              checked={isNull}
              onChange={({ target }) => (target.checked ? set(pointer, null) : remove(pointer))}
              aria-label={`${field.label} is null`}
            >
              null
            </Checkbox>
          ))
        }
      >
        {(control) => renderControl(field, { control, isNull, set, clear })}
      </Field>
    </div>
  )
}

interface Parts {
  readonly control: FieldControl
  readonly isNull: boolean
  readonly set: (path: string, value: unknown) => void
  readonly clear: () => void
}

function renderControl(field: Leaf, { control, isNull, set, clear }: Parts): ReactElement {
  const { pointer, value } = field
  const put = (next: unknown): void =>
    next === undefined || next === '' ? clear() : set(pointer, next)
  switch (field.kind) {
    case 'text':
      return (
        <TextControl
          input={field.input}
          value={value}
          control={control}
          disabled={isNull}
          look={field.look}
          onText={put}
        />
      )
    case 'number':
      return (
        <NumberInput
          value={value}
          control={control}
          disabled={isNull}
          placeholder={field.look.placeholder}
          onChange={put}
        />
      )
    case 'boolean':
      return renderOptions(field, { options: [true, false], control, isNull, put })
    case 'choice':
      return renderOptions(field, { options: field.options, control, isNull, put })
  }
}

interface Choice {
  readonly options: readonly unknown[]
  readonly control: FieldControl
  readonly isNull: boolean
  readonly put: (value: unknown) => void
}

/** Renders a select. A value outside the options is listed too, so that it is not lost. */
function renderOptions(field: Leaf, { options: all, control, isNull, put }: Choice): ReactElement {
  const { look } = field
  const texts = all.map(formatOption)
  const value = field.value === undefined ? '' : formatOption(field.value)
  const isForeign = value !== '' && !isNull && !texts.includes(value)
  return (
    <Select
      {...control}
      data-autofocus={look.hasFocus}
      disabled={isNull}
      value={isNull ? '' : value}
      onChange={({ target }) => {
        const at = texts.indexOf(target.value)
        put(at === -1 ? undefined : all[at])
      }}
    >
      {look.none !== null && (
        <option value="">
          {isNull ? 'null' : (look.none ?? (field.isRequired ? 'Choose' : 'Not set'))}
        </option>
      )}
      {isForeign && (
        <option value={value}>
          {look.choices === undefined || typeof field.value === 'string'
            ? value
            : 'Custom settings'}
        </option>
      )}
      {renderChoices(
        look.choices ?? all.map((option) => ({ value: option, label: formatOption(option) })),
      )}
    </Select>
  )
}

/** Renders options, below the headings of their groups. */
function renderChoices(choices: readonly FieldChoice[]): ReactNode {
  const groups = Map.groupBy(choices, ({ group }) => group)
  return [...groups].map(([group, members]) => {
    const options = members.map(({ value, label }) => (
      <option key={formatOption(value)} value={formatOption(value)}>
        {label}
      </option>
    ))
    return group === undefined ? (
      options
    ) : (
      <optgroup key={group} label={group}>
        {options}
      </optgroup>
    )
  })
}

function formatOption(option: unknown): string {
  return typeof option === 'string' ? option : JSON.stringify(option)
}

const TYPES: Readonly<Record<Exclude<TextInputKind, 'area'>, string>> = {
  text: 'text',
  date: 'date',
  'date-time': 'datetime-local',
  email: 'email',
  url: 'url',
  time: 'text',
}

/**
 * A text input of one kind. A date and time is entered in the reader's time zone and stored
 * in UTC.
 */
function TextControl({
  input,
  value,
  control,
  disabled,
  look: { rows = 1, isCode = false, isReadOnly, hasFocus, placeholder },
  onText,
}: {
  readonly input: TextInputKind
  readonly value: unknown
  readonly control: FieldControl
  readonly disabled: boolean
  readonly look: FieldLook
  readonly onText: (text: string) => void
}) {
  const text =
    value === undefined || value === null
      ? ''
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
  if (input === 'area') {
    return (
      <TextArea
        {...control}
        className={rows === 1 ? styles['line'] : undefined}
        rows={rows}
        code={isCode}
        readOnly={isReadOnly}
        data-autofocus={hasFocus}
        placeholder={placeholder}
        disabled={disabled}
        value={text}
        onChange={({ target }) => onText(target.value)}
      />
    )
  }
  const local = input === 'date-time' ? toLocalDateTime(text) : undefined
  if (local !== undefined) {
    return (
      <TextInput
        {...control}
        type="datetime-local"
        step={1}
        disabled={disabled}
        value={local}
        onChange={({ target }) => onText(toUtcInstant(target.value))}
      />
    )
  }
  const type = input === 'date-time' || (input === 'date' && !isDate(text)) ? 'text' : TYPES[input]
  return (
    <TextInput
      {...control}
      type={type}
      autoComplete="off"
      placeholder={placeholder}
      data-autofocus={hasFocus}
      disabled={disabled}
      value={text}
      onChange={({ target }) => onText(target.value)}
    />
  )
}

/** Whether a date input can show the text. */
function isDate(text: string): boolean {
  return text === '' || /^\d{4}-\d{2}-\d{2}$/.test(text)
}

/**
 * Converts a UTC instant to the value of a `datetime-local` input; undefined if the conversion
 * would lose information.
 */
export function toLocalDateTime(text: string): string | undefined {
  if (text === '') return ''
  const instant = new Date(text)
  if (Number.isNaN(instant.getTime()) || !/^\d{4}-.*:\d{2}(\.000)?Z$/.test(text)) return undefined
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

/** Converts the value of a `datetime-local` input to a UTC instant. */
export function toUtcInstant(local: string): string {
  const instant = new Date(local)
  if (local === '' || Number.isNaN(instant.getTime())) return ''
  return instant.toISOString().replace('.000Z', 'Z')
}
