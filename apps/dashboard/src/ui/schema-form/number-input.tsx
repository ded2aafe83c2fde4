/** A number as it is typed: `1.` on the way to `1.5` stays as it is. */
import { useState } from 'react'

import { TextInput } from '../controls/inputs.tsx'

import type { FieldControl } from '../controls/field.tsx'

/** The input; what is no number is handed on as its text, so that the form can say so. */
export function NumberInput({
  value,
  control,
  onChange,
  ...rest
}: {
  readonly value: unknown
  readonly control: FieldControl
  readonly disabled?: boolean
  readonly placeholder?: string
  readonly onChange: (value: number | string | undefined) => void
}) {
  const [typed, setTyped] = useState('')
  const isSame = numberFrom(typed) === (value ?? undefined)
  const shown = value === undefined || value === null ? '' : plainText(value)
  return (
    <TextInput
      {...control}
      {...rest}
      inputMode="decimal"
      autoComplete="off"
      value={isSame ? typed : shown}
      onChange={({ target }) => {
        setTyped(target.value)
        onChange(numberFrom(target.value))
      }}
    />
  )
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The number that a text says; the text itself when it says none, undefined when there is none. */
export function numberFrom(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const number = Number(trimmed)
  return Number.isFinite(number) ? number : text
}
