import { describe, expect, it } from 'vitest'

import { task } from '../definition/define-task.ts'
import { inputsFrom } from './inputs-from.ts'

const walk = { name: 'walk', tasks: [task({ name: 'walk', description: 'Walk in {city}' })] }
const trip = {
  name: 'trip',
  tasks: [task({ name: 'plan', description: 'From {from} to {to}' })],
}
const rest = { name: 'rest', tasks: [task({ name: 'rest', description: 'Rest' })] }

describe('inputsFrom', () => {
  it.each([
    ['an object of strings', trip, { from: 'Bonn', to: 'Köln' }, { from: 'Bonn', to: 'Köln' }],
    [
      'an object with extra fields',
      walk,
      { city: 'Bonn', mood: 'good' },
      { city: 'Bonn', mood: 'good' },
    ],
    ['the JSON of an object', trip, '{"from":"a","to":"b"}', { from: 'a', to: 'b' }],
    ['a text for a single variable', walk, 'Bonn', { city: 'Bonn' }],
    ['JSON that is not an object, as text', walk, '["Bonn"]', { city: '["Bonn"]' }],
    ['no value', rest, undefined, {}],
    ['a blank text', rest, ' ', {}],
  ])('inputsFrom reads the inputs from %s', (_what, ensemble, value, inputs) => {
    expect(inputsFrom(ensemble, value)).toEqual(inputs)
  })

  it.each([
    [
      'missing fields and fields that are not strings',
      trip,
      { from: 1 },
      ['"to" is required', '"from" must be a string, got 1'],
    ],
    ['a text for several variables', trip, 'Bonn', ['with the fields from, to']],
    ['a text without any variable', rest, 'now', ['must be omitted']],
    ['a list', walk, ['Bonn'], ['with the fields city']],
    ['null for a required variable', walk, null, ['"city" is required']],
  ])('inputsFrom rejects %s and names every problem', (_what, ensemble, value, problems) => {
    for (const problem of problems) expect(() => inputsFrom(ensemble, value)).toThrow(problem)
  })
})
