/** The control of a text field. */
import { TextArea, TextInput } from '../controls/inputs.tsx'
import styles from './schema-form.module.css'

import type { FieldControl } from '../controls/field.tsx'
import type { TextInputKind } from './form-model.ts'

const TYPES: Readonly<Record<Exclude<TextInputKind, 'area'>, string>> = {
  text: 'text',
  date: 'date',
  'date-time': 'datetime-local',
  email: 'email',
  url: 'url',
  time: 'text',
}

/** An input of the kind; a date and time is typed in the zone of the reader and kept in UTC. */
export function TextControl({
  input,
  value,
  control,
  disabled,
  onText,
}: {
  readonly input: TextInputKind
  readonly value: unknown
  readonly control: FieldControl
  readonly disabled: boolean
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
        className={styles['line']}
        rows={1}
        disabled={disabled}
        value={text}
        onChange={({ target }) => onText(target.value)}
      />
    )
  }
  const local = input === 'date-time' ? localOf(text) : undefined
  if (local !== undefined) {
    return (
      <TextInput
        {...control}
        type="datetime-local"
        step={1}
        disabled={disabled}
        value={local}
        onChange={({ target }) => onText(utcOf(target.value))}
      />
    )
  }
  const type = input === 'date-time' || (input === 'date' && !isDate(text)) ? 'text' : TYPES[input]
  return (
    <TextInput
      {...control}
      type={type}
      autoComplete="off"
      disabled={disabled}
      value={text}
      onChange={({ target }) => onText(target.value)}
    />
  )
}

/** What a date input can show. */
function isDate(text: string): boolean {
  return text === '' || /^\d{4}-\d{2}-\d{2}$/.test(text)
}

/** An instant in UTC as the input shows it; undefined for a text that it would not give back as it was. */
export function localOf(text: string): string | undefined {
  if (text === '') return ''
  const instant = new Date(text)
  if (Number.isNaN(instant.getTime()) || !/^\d{4}-.*:\d{2}(\.000)?Z$/.test(text)) return undefined
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

/** What the input holds, as an instant in UTC. */
export function utcOf(local: string): string {
  const instant = new Date(local)
  if (local === '' || Number.isNaN(instant.getTime())) return ''
  return instant.toISOString().replace('.000Z', 'Z')
}
