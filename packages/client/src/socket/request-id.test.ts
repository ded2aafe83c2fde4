import { expect, it, vi } from 'vitest'

import { newRequestId } from './request-id.ts'

it('is new each time, also in a page that was not served over a safe connection', () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) })
  try {
    const ids = Array.from({ length: 100 }, newRequestId)
    expect(new Set(ids).size).toBe(100)
    expect(ids.every((id) => /^[\da-f]{32}$/.test(id))).toBe(true)
  } finally {
    vi.unstubAllGlobals()
  }
})
