import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { expect, it } from 'vitest'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'

/** All names of the conventions. */
const KNOWN: ReadonlySet<unknown> = new Set(Object.values(conventions))

it.each([...Object.values(GEN_AI), ...Object.values(OPERATION)])(
  '%s is a name of the conventions',
  (name) => {
    expect(KNOWN.has(name)).toBe(true)
  },
)

it('Our names differ from those of the conventions and from each other', () => {
  const names = Object.values(TUTTI)
  expect(names.filter((name) => !name.startsWith('tutti.'))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})
