import { describe, expect, it } from 'vitest'

import { task } from '../definition/define-task.ts'
import { inputsFrom } from './inputs-from.ts'

const walk = { name: 'walk', tasks: [task({ name: 'walk', description: 'Walk in {city}' })] }
const trip = {
  name: 'trip',
  tasks: [task({ name: 'plan', description: 'From {from} to {to}' })],
}
const rest = { name: 'rest', tasks: [task({ name: 'rest', description: 'Rest' })] }

describe('the inputs of an ensemble that is asked', () => {
  it.each([
    ['an object of strings', trip, { from: 'Bonn', to: 'Köln' }, { from: 'Bonn', to: 'Köln' }],
    ['more than it needs', walk, { city: 'Bonn', mood: 'good' }, { city: 'Bonn', mood: 'good' }],
    ['the JSON of an object', trip, '{"from":"a","to":"b"}', { from: 'a', to: 'b' }],
    ['a text for its one variable', walk, 'Bonn', { city: 'Bonn' }],
    ['JSON that is no object, as a text', walk, '["Bonn"]', { city: '["Bonn"]' }],
    ['nothing', rest, undefined, {}],
    ['a blank text', rest, ' ', {}],
  ])('are those of %s', (_what, ensemble, value, inputs) => {
    expect(inputsFrom(ensemble, value)).toEqual(inputs)
  })

  it.each([
    [
      'what is missing and what is no string',
      trip,
      { from: 1 },
      ['"to" is required', '"from" must be a string, got 1'],
    ],
    ['a text for several variables', trip, 'Bonn', ['with the fields from, to']],
    ['a text that nobody needs', rest, 'now', ['must be omitted']],
    ['a list', walk, ['Bonn'], ['with the fields city']],
    ['nothing where something is needed', walk, null, ['"city" is required']],
  ])('are refused for %s, naming it', (_what, ensemble, value, problems) => {
    for (const problem of problems) expect(() => inputsFrom(ensemble, value)).toThrow(problem)
  })
})
