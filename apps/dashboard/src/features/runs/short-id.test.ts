import { expect, it } from 'vitest'

import { shortId } from './short-id.ts'

it.each([
  ['', ''],
  ['my-own-run', 'my-own-run'],
  ['12345678901234', '12345678901234'],
  ['123456789012345', '12345678…2345'],
  ['run-6c5f0a4b-0000-4000-8000-0000000019a4', 'run-6c5f…19a4'],
])('%j is shown as %j', (id, shown) => expect(shortId(id)).toBe(shown))
