import { expect, it } from 'vitest'

import { omitUndefined } from './omit-undefined.ts'

it('Members that are undefined are omitted, but other empty values are not', () => {
  const value = { a: 0, b: '', c: null, d: false, e: undefined }
  expect(Object.entries(omitUndefined(value))).toEqual(
    Object.entries({ a: 0, b: '', c: null, d: false }),
  )
})
