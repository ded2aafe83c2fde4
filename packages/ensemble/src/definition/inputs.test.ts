import { describe, expect, it } from 'vitest'

import { assertInputs, inputVariables, missingInputs, taskVariables } from './inputs.ts'
import { task } from './define-task.ts'

const plan = task({
  name: 'plan',
  description: 'Plan a trip to {city} in {month}',
  expectedOutput: 'A plan in {language}, for {city}',
})
const book = task({ name: 'book', description: 'Book a room in {city} as {{name}} for {guests}' })
const trip = { name: 'trip', tasks: [plan, book] }

describe('template variables', () => {
  it('of a task are those of both its texts, each once, in order of appearance', () => {
    expect(taskVariables(plan)).toEqual(['city', 'month', 'language'])
    expect(taskVariables(book)).toEqual(['city', 'guests'])
  })

  it('of several tasks are those of all of them, each once', () => {
    expect(inputVariables([plan, book])).toEqual(['city', 'month', 'language', 'guests'])
    expect(inputVariables([])).toEqual([])
  })
})

describe('missing inputs', () => {
  it('are the variables without a value; an empty text is a value, and extra inputs are ignored', () => {
    expect(missingInputs(trip.tasks, { month: '', language: 'German', extra: 'x' })).toEqual([
      'city',
      'guests',
    ])
  })

  it('include variables with the names of inherited properties', () => {
    expect(missingInputs([task({ description: 'Say {toString}' })], {})).toEqual(['toString'])
  })

  it('[ENS-E1] are all named in one error', () => {
    const check = (): void => {
      assertInputs(trip, { month: 'May' })
    }
    expect(check).toThrow('Cannot run "trip": missing inputs: city, language, guests')
    expect(check).toThrow(
      expect.objectContaining({
        code: 'INPUT_MISSING',
        details: { missing: ['city', 'language', 'guests'] },
      }),
    )
  })

  it('cause no error if there are none', () => {
    const inputs = { city: 'Bonn', month: 'May', language: 'German', guests: '2' }
    expect(() => {
      assertInputs(trip, inputs)
    }).not.toThrow()
  })
})
