/** A field of the body: its place, its name, and what is wrong there. */
import { Field, type FieldControl } from '../../ui/controls/field.tsx'
import { useErrors } from './form-errors.ts'

import type { ReactElement, ReactNode } from 'react'

/** The field of a place of the body. */
export function BodyField({
  path,
  children,
  ...rest
}: {
  readonly path: string
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly required?: boolean
  readonly aside?: ReactNode
  readonly children: (control: FieldControl) => ReactElement
}) {
  const errors = useErrors(path)
  return (
    <div data-pointer={path}>
      <Field {...rest} errors={errors}>
        {children}
      </Field>
    </div>
  )
}
