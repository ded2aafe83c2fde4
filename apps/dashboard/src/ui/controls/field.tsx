/** Form fields: a control with its label, a hint and its errors. */
import { useId, type ReactElement, type ReactNode } from 'react'

import styles from './field.module.css'

/** Props that tie a control to its field. */
export interface FieldControl {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
  readonly 'aria-required': true | undefined
}

interface FieldProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** Errors in the value, one sentence each. @default [] */
  readonly errors?: readonly string[]
  readonly required?: boolean
  /** Shown at the end of the label's line. */
  readonly aside?: ReactNode
  readonly children: (control: FieldControl) => ReactElement
}

/** A field; `children` renders its control. */
export function Field({ label, hint, errors = [], required = false, aside, children }: FieldProps) {
  const id = useId()
  const isWrong = errors.length > 0
  const notes = [hint === undefined ? '' : `${id}-hint`, isWrong ? `${id}-errors` : '']
  const describedBy = notes.filter(Boolean).join(' ')
  return (
    <div className={styles['field']}>
      <div className={styles['head']}>
        <label htmlFor={id}>{label}</label>
        {required && <span className={styles['required']}>required</span>}
        {aside !== undefined && <span className={styles['aside']}>{aside}</span>}
      </div>
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': isWrong ? true : undefined,
        'aria-required': required ? true : undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )}
      <Errors id={`${id}-errors`} errors={errors} />
    </div>
  )
}

/** A list of errors; nothing without any. */
export function Errors({
  id,
  errors,
}: {
  readonly id?: string
  readonly errors: readonly string[]
}) {
  if (errors.length === 0) return null
  return (
    <ul id={id} className={styles['errors']}>
      {errors.map((error) => (
        <li key={error}>{error}</li>
      ))}
    </ul>
  )
}
