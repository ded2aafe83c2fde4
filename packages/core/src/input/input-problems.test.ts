import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { problemsBy } from '../../test/read-by.ts'
import { findInputProblems } from './input-problems.ts'

const Trip = Type.Object({
  city: Type.String(),
  days: Type.Integer({ maximum: 7 }),
  stops: Type.Array(Type.Integer(), { minItems: 3, uniqueItems: true }),
  note: Type.Optional(Type.Object({ author: Type.String() }, { additionalProperties: false })),
})

describe('findInputProblems', () => {
  it('findInputProblems reports every problem with its path, and none that was coerced, filled in or dropped', () => {
    expect(problemsBy(Trip, { days: '8', stops: ['1', 'x', 2], note: { z: 0 }, z: 0 })).toEqual([
      '/city is required',
      '/days must be an integer, got "8"',
      '/stops/1 must be an integer, got "x"',
      '/note/author is required',
    ])
  })

  it('findInputProblems shows the given value instead of the normalized one', () => {
    expect(problemsBy(Trip, { city: 'a', days: 1, stops: ['1', 2] })).toEqual([
      '/stops must have at least 3 items, got ["1",2]',
    ])
    expect(problemsBy(Trip, { city: 'a', days: 1, stops: ['1', 1, 2] })).toEqual([
      '/stops must not have the same item twice, got ["1",1,2]',
    ])
    const decoded = findInputProblems(Trip, {
      given: { stops: ['$&'] },
      normalized: { city: '', days: 1, stops: [5] },
    })
    expect(decoded).toMatchObject([
      { message: 'must have at least 3 items, got ["$&"]', received: '["$&"]' },
    ])
  })

  it('findInputProblems names the dropped field with a name similar to a missing one', () => {
    const problems = problemsBy(Trip, {
      cty: 'a',
      days: 1,
      stops: [1, 2, 3],
      note: { autor: 'x' },
      z: 0,
    })
    expect(problems).toEqual([
      '/city is required ("cty" is not a known field)',
      '/note/author is required ("autor" is not a known field)',
    ])
  })

  it('findInputProblems does not name a known field with a name similar to the missing one', () => {
    const schema = Type.Object({ city: Type.String(), city2: Type.String() })
    expect(problemsBy(schema, { city2: 'a' })).toEqual(['/city is required'])
  })

  it('findInputProblems shows the normalized value where no value was given', () => {
    const schema = Type.Object({ a: Type.Integer() })
    const problems = findInputProblems(schema, { given: {}, normalized: { a: 'x' } })
    expect(problems).toMatchObject([{ message: 'must be an integer, got "x"', received: 'x' }])
  })

  it('findInputProblems reports the problems of the given value when the normalized one has none', () => {
    const problems = findInputProblems(Type.Object({ a: Type.Integer() }), {
      given: { a: 'x' },
      normalized: { a: 1 },
    })
    expect(problems.map(({ message }) => message)).toEqual(['must be an integer, got "x"'])
  })
})
