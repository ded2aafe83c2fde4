import type Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { decode } from '../decode.ts'
import { describeProblems } from '../problems/describe-problems.ts'
import { IsoDuration, NonBlank, RunId, TaskReference } from './scalars.ts'

describe('the patterns', () => {
  it.each<[string, Type.TSchema, string[], string[]]>([
    [
      'IsoDuration',
      IsoDuration,
      ['PT1.234S', 'PT0S', 'P1D', 'P1DT2H3M4S', 'PT30M', 'P2W'],
      ['', 'P', 'PT', '30s', 'PT-1S', '-PT1S', 'P1H', 'PT1.S', 'pt1s', 'PT1S '],
    ],
    [
      'RunId',
      RunId,
      ['a', 'run-7f3a2b', 'A_9', 'compare-1'],
      ['', 'compare', '-a', '_a', 'a/b', 'a.b', 'ü', 'a\n'],
    ],
    ['NonBlank', NonBlank, ['a', ' a ', '0'], ['', ' ', '\n\t', '\u00a0']],
    ['TaskReference', TaskReference, ['$researcher', '$0'], ['', '$', 'researcher', ' $0']],
  ])('The pattern of %s accepts and rejects values', (_, schema, good, bad) => {
    expect(good.filter((text) => !decode(schema, text).ok)).toEqual([])
    expect(bad.filter((text) => decode(schema, text).ok)).toEqual([])
  })

  it('The patterns have a description', () => {
    for (const schema of [IsoDuration, NonBlank, RunId, TaskReference]) {
      expect(describeProblems(schema, '')[0]?.message).not.toContain('matches')
    }
  })
})
