import { expect, it } from 'vitest'

import { omitUndefined } from './omit-undefined.ts'

it('Members that are undefined are omitted, and other empty values are kept', () => {
  const value = { a: 0, b: '', c: null, d: false, e: undefined }
  expect(Object.entries(omitUndefined(value))).toEqual(
    Object.entries({ a: 0, b: '', c: null, d: false }),
  )
})
