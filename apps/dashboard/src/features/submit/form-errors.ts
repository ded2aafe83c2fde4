/** What is told at each field of the form. */
import { createContext, useContext } from 'react'

import type { PlacedProblems } from '../../ui/schema-form/placed-problems.ts'

/** Messages by the pointer of the field. */
export const FormErrors = createContext<PlacedProblems>(new Map())

/** What is told at a field; `items` takes what is told at the items of its list, too. */
export function useErrors(path: string, items = 0): readonly string[] {
  const placed = useContext(FormErrors)
  const paths = [path, ...Array.from({ length: items }, (_, at) => `${path}/${at}`)]
  return paths.flatMap((place) => placed.get(place) ?? [])
}
