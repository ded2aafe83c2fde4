/** What every field of a form needs of the form round it. */
import { createContext, useContext } from 'react'

import type { PlacedProblems } from './placed-problems.ts'

/** Reads and changes the value of a form. */
export interface FormAccess {
  readonly schema: object
  readonly problems: PlacedProblems
  /** Texts that are meant to be JSON and are not, by their places. */
  readonly broken: Readonly<Record<string, string>>
  readonly set: (path: string, value: unknown) => void
  readonly remove: (path: string) => void
  readonly setJson: (path: string, text: string) => void
  /** Takes another variant of the union at a place, with the value that it begins with. */
  readonly choose: (path: string, variant: number, value: unknown) => void
}

/** The form round a field. */
export const FormContext = createContext<FormAccess | undefined>(undefined)

/**
 * The form round a field.
 *
 * @throws {Error} outside of a form.
 */
export function useForm(): FormAccess {
  const form = useContext(FormContext)
  if (form === undefined) throw new Error('There is no form around this field')
  return form
}
