import { describe, expect, it, vi } from 'vitest'

import { childTraceparent, isTraceparent, newTraceparent } from './trace-context.ts'

const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('trace context', () => {
  it('begins a trace that nobody records', () => {
    expect(newTraceparent()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    expect(isTraceparent(newTraceparent())).toBe(true)
    expect(newTraceparent()).not.toBe(newTraceparent())
  })

  it('a child has a span of its own, in the same trace, recorded as it is', () => {
    const child = childTraceparent(GIVEN)
    expect(child).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    expect(child).not.toBe(GIVEN)
  })

  it.each([
    ['the version that is known', GIVEN, true],
    ['another version', GIVEN.replace(/^00/, '01'), false],
    ['no trace', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, false],
    ['no span', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`, false],
    ['capitals', GIVEN.toUpperCase(), false],
    ['more behind it', `${GIVEN}-x`, false],
  ])('knows %s', (_what, text, is) => {
    expect(isTraceparent(text)).toBe(is)
  })

  it('never makes an id of zeros', () => {
    const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => array)
    expect(isTraceparent(newTraceparent())).toBe(true)
    random.mockRestore()
  })
})
