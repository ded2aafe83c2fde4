/** An input for numbers. Incomplete text such as `1.` stays as typed. */
import { useState } from 'react'

import { TextInput } from '../controls/inputs.tsx'

import type { FieldControl } from '../controls/field.tsx'

/**
 * A number input. Text that is not a number is passed on as it is, so that the form can report it.
 */
export function NumberInput({
  value,
  control,
  onChange,
  ...rest
}: {
  readonly value: unknown
  readonly control: FieldControl
  readonly disabled?: boolean
  readonly placeholder?: string | undefined
  readonly onChange: (value: number | string | undefined) => void
}) {
  const [typed, setTyped] = useState('')
  const isSame = parseNumber(typed) === (value ?? undefined)
  const shown = value === undefined || value === null ? '' : formatValue(value)
  return (
    <TextInput
      {...control}
      {...rest}
      inputMode="decimal"
      autoComplete="off"
      value={isSame ? typed : shown}
      onChange={({ target }) => {
        setTyped(target.value)
        onChange(parseNumber(target.value))
      }}
    />
  )
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Parses a number; returns the text if it is not one, and undefined if it is blank. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const number = Number(trimmed)
  return Number.isFinite(number) ? number : text
}
