/** One of several values, or none. */
import { Select } from '../../ui/controls/inputs.tsx'
import { BodyField } from './body-field.tsx'

import type { ReactNode } from 'react'

/** A choice; a value that is none of them is shown as it is. */
export function ChoiceField({
  value,
  choices,
  none,
  onChange,
  ...rest
}: {
  readonly path: string
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly value: string | undefined
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  /** What it means when nothing is chosen. */
  readonly none: string
  readonly onChange: (value: string | undefined) => void
}) {
  const isForeign = value !== undefined && !choices.some((choice) => choice.value === value)
  return (
    <BodyField {...rest}>
      {(control) => (
        <Select
          {...control}
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        >
          <option value="">{none}</option>
          {isForeign && <option value={value}>{value}</option>}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </Select>
      )}
    </BodyField>
  )
}
