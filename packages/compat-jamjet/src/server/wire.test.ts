import { expect, it } from 'vitest'

import { findNumbers } from '../../../../tooling/test-kit/find-numbers.ts'
import * as wire from './wire.ts'

it('The numbers in requests of the /tasks wire have a minimum and a maximum', () => {
  const numbers = Object.values(wire).flatMap((schema) => findNumbers(schema))
  expect(numbers.length).toBeGreaterThan(0)
  expect(numbers.filter(({ least, most }) => least === undefined || most === undefined)).toEqual([])
})
