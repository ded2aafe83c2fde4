/** Gives every field of a form access to its form. */
import { createContext, useContext } from 'react'

import type { Broken } from './form-draft.ts'

/** Reads and changes the value of a form. */
export interface FormAccess {
  readonly schema: object
  readonly value: unknown
  /** Whether its fields are rendered one by one: clearing a field then removes it, and objects that become empty. */
  readonly isFlat: boolean
  /** Returns the errors that a field shows, or a group of fields. */
  readonly errors: (pointer: string, isGroup?: boolean) => readonly string[]
  /** Texts that are not values yet, by pointer. */
  readonly broken: Readonly<Record<string, Broken>>
  readonly set: (path: string, value: unknown) => void
  readonly remove: (path: string) => void
  readonly setJson: (path: string, text: string) => void
  readonly setBroken: (path: string, broken: Broken) => void
  /** Selects a variant of the union at `path` and sets its initial value. */
  readonly choose: (path: string, variant: number, value: unknown) => void
}

/** Provides the form of a field. */
export const FormContext = createContext<FormAccess | undefined>(undefined)

/**
 * Returns the form of a field.
 *
 * @throws {Error} outside of a form.
 */
export function useForm(): FormAccess {
  const form = useContext(FormContext)
  if (form === undefined) throw new Error('useForm must be called inside a FormContext')
  return form
}
