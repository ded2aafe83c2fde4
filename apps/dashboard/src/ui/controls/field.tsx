/** A control with its name, a hint and what is wrong with its value. */
import { useId, type ReactElement, type ReactNode } from 'react'

import styles from './field.module.css'

/** What a control is given so that it belongs to its field. */
export interface FieldControl {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
  readonly 'aria-required': true | undefined
}

/** A field; `children` makes its control. */
export function Field({
  label,
  hint,
  errors = [],
  required = false,
  aside,
  children,
}: {
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** What is wrong with the value, one sentence each. @default [] */
  readonly errors?: readonly string[]
  readonly required?: boolean
  /** Beside the label, at the end of its line. */
  readonly aside?: ReactNode
  readonly children: (control: FieldControl) => ReactElement
}) {
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
      {isWrong && (
        <ul id={`${id}-errors`} className={styles['errors']}>
          {errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
