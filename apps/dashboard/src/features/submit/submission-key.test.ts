import { expect, it } from 'vitest'

import { chooseSubmissionKey } from './use-submission.ts'

it('The submission form reuses the key of an unchanged body, and creates a new one for another body', () => {
  const key = chooseSubmissionKey(undefined, '{}')
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(chooseSubmissionKey({ key, body: '{}' }, '{}')).toBe(key)
  expect(chooseSubmissionKey({ key, body: '{}' }, '{"a":1}')).not.toBe(key)
})
