import { describe, expect, it } from 'vitest'

import { alignCalls, type AlignableCall } from './align-calls.ts'

/** Calls such as `search:1`, in order. */
const calls = (text: string): readonly AlignableCall[] =>
  text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [toolName = '', inputDigest = ''] = part.split(':')
      return { toolName, inputDigest }
    })

const show = (call: AlignableCall): string => `${call.toolName}:${call.inputDigest}`

/** Pairs such as `search:1|search:2`; a missing call is empty. */
const align = (a: string, b: string): readonly string[] =>
  alignCalls(calls(a), calls(b)).map((pair) =>
    ['a' in pair ? show(pair.a) : '', 'b' in pair ? show(pair.b) : ''].join('|'),
  )

describe('alignCalls', () => {
  it('alignCalls pairs calls of the same tool in order, also with different arguments', () => {
    expect(align('search:1 fetch:2', 'search:1 fetch:3')).toEqual([
      'search:1|search:1',
      'fetch:2|fetch:3',
    ])
  })

  it('alignCalls leaves a call alone that only one run made, and prefers pairs with equal arguments', () => {
    expect(align('search:1 search:2', 'search:2')).toEqual(['search:1|', 'search:2|search:2'])
    expect(align('search:2', 'search:1 search:2 mail:3')).toEqual([
      '|search:1',
      'search:2|search:2',
      '|mail:3',
    ])
  })

  it('alignCalls never pairs different tools, and handles runs without calls', () => {
    expect(align('search:1', 'fetch:1')).toEqual(['search:1|', '|fetch:1'])
    expect(align('', '')).toEqual([])
    expect(align('a:1 b:1', '')).toEqual(['a:1|', 'b:1|'])
    expect(align('', 'a:1')).toEqual(['|a:1'])
  })

  it('alignCalls contains every call of both runs once and in order, for generated runs', () => {
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 200; round += 1) {
      const make = (): readonly AlignableCall[] =>
        Array.from({ length: random(12) }, () => ({
          toolName: `t${random(3)}`,
          inputDigest: `${random(3)}`,
        }))
      const [a, b] = [make(), make()]
      const pairs = alignCalls(a, b)
      expect(pairs.flatMap((pair) => ('a' in pair ? [pair.a] : []))).toEqual(a)
      expect(pairs.flatMap((pair) => ('b' in pair ? [pair.b] : []))).toEqual(b)
      for (const pair of pairs) {
        if ('a' in pair && 'b' in pair) expect(pair.a.toolName).toBe(pair.b.toolName)
      }
    }
  })
})
