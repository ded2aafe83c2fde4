import { describe, expect, it } from 'vitest'

import { findContradictions } from './contradictions.ts'

describe('findContradictions', () => {
  it.each([
    ['minimum', 'maximum', 5, 3],
    ['minLength', 'maxLength', 2, 1],
    ['minItems', 'maxItems', 1, 0],
    ['minProperties', 'maxProperties', 9, 8],
    ['minimum', 'maximum', 2n, 1],
  ])('findContradictions reports %s above %s, with its path', (lower, upper, least, greatest) => {
    const schema = { type: 'object', properties: { a: { [lower]: least, [upper]: greatest } } }
    expect(findContradictions(schema)).toEqual([
      {
        path: `/properties/a/${lower}`,
        message: `must be at most ${upper} (${greatest}), got ${least}`,
      },
    ])
  })

  it('findContradictions reports an empty enum in a definition', () => {
    expect(findContradictions({ $ref: '#/$defs/a', $defs: { a: { enum: [] } } })).toEqual([
      { path: '/$defs/a/enum', message: 'must have a value, got an empty list' },
    ])
  })

  it('findContradictions reports nothing for equal limits, one limit, values of other types and properties of these names', () => {
    const fields = { minimum: { type: 'number' }, maximum: { type: 'number' } }
    const schema = {
      type: 'object',
      properties: fields,
      default: { minimum: 5, maximum: 3 },
      minItems: 2,
      maxItems: 2,
      minLength: 7,
      minimum: '5',
      maximum: 3,
      enum: [1],
    }
    expect(findContradictions(schema)).toEqual([])
    expect(findContradictions(undefined)).toEqual([])
  })
})
