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

describe('the problems with a value', () => {
  it('are all there, each with its path, and are not of what was mended, filled in or dropped', () => {
    expect(problemsBy(Trip, { days: '8', stops: ['1', 'x', 2], note: { z: 0 }, z: 0 })).toEqual([
      '/city is required',
      '/days must be an integer, got "8"',
      '/stops/1 must be an integer, got "x"',
      '/note/author is required',
    ])
  })

  it('show what came, not what was made of it', () => {
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

  it('name the dropped field that may be a slip of a missing one', () => {
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

  it('name no field that is known, though it is nearly the missing one', () => {
    const schema = Type.Object({ city: Type.String(), city2: Type.String() })
    expect(problemsBy(schema, { city2: 'a' })).toEqual(['/city is required'])
  })

  it('show what was made of the value where nothing came', () => {
    const schema = Type.Object({ a: Type.Integer() })
    const problems = findInputProblems(schema, { given: {}, normalized: { a: 'x' } })
    expect(problems).toMatchObject([{ message: 'must be an integer, got "x"', received: 'x' }])
  })

  it('are those of the value that came where what was made of it fits by chance', () => {
    const problems = findInputProblems(Type.Object({ a: Type.Integer() }), {
      given: { a: 'x' },
      normalized: { a: 1 },
    })
    expect(problems.map(({ message }) => message)).toEqual(['must be an integer, got "x"'])
  })
})
