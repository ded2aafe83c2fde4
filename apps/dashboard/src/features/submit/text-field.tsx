/** Texts and numbers of the body. */
import { TextArea, TextInput } from '../../ui/controls/inputs.tsx'
import { NumberInput } from '../../ui/schema-form/number-input.tsx'
import { BodyField } from './body-field.tsx'
import styles from './submit.module.css'

import type { ReactNode } from 'react'

interface Common {
  readonly path: string
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly required?: boolean
  readonly placeholder?: string
}

/** A text; cleared, it is not there. */
export function TextField({
  value,
  area = false,
  isTall = false,
  code = false,
  placeholder,
  onChange,
  ...rest
}: Common & {
  readonly value: string | undefined
  /** Several lines. */
  readonly area?: boolean
  /** Whether several lines are what one expects. */
  readonly isTall?: boolean
  readonly code?: boolean
  readonly onChange: (value: string | undefined) => void
}) {
  const take = (text: string): void => onChange(text === '' ? undefined : text)
  return (
    <BodyField {...rest}>
      {(control) =>
        area ? (
          <TextArea
            {...control}
            rows={isTall ? 2 : 1}
            className={isTall ? undefined : styles['line']}
            code={code}
            placeholder={placeholder}
            value={value ?? ''}
            onChange={({ target }) => take(target.value)}
          />
        ) : (
          <TextInput
            {...control}
            autoComplete="off"
            placeholder={placeholder}
            value={value ?? ''}
            onChange={({ target }) => take(target.value)}
          />
        )
      }
    </BodyField>
  )
}

/** A number; cleared, it is not there. */
export function NumberField({
  value,
  placeholder,
  onChange,
  ...rest
}: Common & {
  readonly value: number | string | undefined
  readonly onChange: (value: number | string | undefined) => void
}) {
  return (
    <BodyField {...rest}>
      {(control) => (
        <NumberInput
          value={value}
          control={control}
          onChange={onChange}
          {...(placeholder === undefined ? {} : { placeholder })}
        />
      )}
    </BodyField>
  )
}
