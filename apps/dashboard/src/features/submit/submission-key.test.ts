import { expect, it } from 'vitest'

import { submissionKey } from './use-submission.ts'

it('a body has one key, however often it is sent, and another body another one', () => {
  const key = submissionKey(undefined, '{}')
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(submissionKey({ key, body: '{}' }, '{}')).toBe(key)
  expect(submissionKey({ key, body: '{}' }, '{"a":1}')).not.toBe(key)
})
