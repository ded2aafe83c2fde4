import { describe, expect, it } from 'vitest'

import { largeJson } from './large-json.ts'

const textOf = async (value: unknown): Promise<string> =>
  Buffer.from(await largeJson(value)).toString()

describe('largeJson', () => {
  it('largeJson returns the same JSON as JSON.stringify, for small values and for large ones', async () => {
    const small = { a: [1, undefined, null, 'é'], b: undefined, c: { d: true } }
    const text = '\u{1f642}"\u0001'.repeat(30_000)
    const large = {
      none: undefined,
      list: [undefined, small, text, [text, [text]], []],
      'a "name"': { text, empty: {} },
      many: Array.from({ length: 50_000 }, (_, index) => ({ index })),
    }
    for (const value of [small, large, [large], text, 1, null]) {
      expect(await textOf(value)).toBe(JSON.stringify(value))
    }
  })

  it('largeJson lets the event loop run while it creates the JSON of a large value', async () => {
    let passes = 0
    let isDone = false
    const count = (): void => {
      passes += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await largeJson(Array.from({ length: 10 }, () => 'x'.repeat(300_000)))
    isDone = true
    expect(passes).toBeGreaterThan(10)
  })
})
