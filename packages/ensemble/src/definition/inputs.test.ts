import { describe, expect, it } from 'vitest'

import { assertInputs, inputVariables, missingInputs, taskVariables } from './inputs.ts'
import { task } from './define-task.ts'
import { renderTask } from './task-text.ts'

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

  it.each(['a b', 'a/b', '-a', '$', 'a,b', 'a:b', ' a', '😀'])(
    '[ENS-E29] an input "%s" in braces is refused, because a template cannot have the name',
    (name) => {
      const tasks = [task({ description: `Say {${name}} {name}` })]
      const check = (): void => {
        assertInputs({ name: 'trip', tasks }, { [name]: 'x', name: 'y' })
      }
      expect(check).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', details: { names: [name] } }),
      )
      // The text is literal if it is not the name of an input, and an input that no text names is ignored.
      assertInputs({ name: 'trip', tasks }, { name: 'y' })
      assertInputs({ name: 'trip', tasks: [task({ description: 'Say' })] }, { [name]: 'x' })
    },
  )

  it.each(['a-b', 'a.b', 'größe', 'a_b', '0', '話題'])(
    '[ENS-E29] an input "%s" in braces is replaced, and required',
    (name) => {
      const greet = task({ description: `Say {${name}}` })
      expect(renderTask(greet, { [name]: 'x' }).description).toBe('Say x')
      expect(missingInputs([greet], {})).toEqual([name])
    },
  )

  it('[ENS-E29] a million braces are checked in time that grows with the text', () => {
    const tasks = [task({ description: `${'{a b} '.repeat(100_000)}${'{'.repeat(100_000)}` })]
    const inputs = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x ${at}`, '']))
    expect(() => {
      assertInputs({ name: 'trip', tasks }, inputs)
    }).not.toThrow()
  })

  it('cause no error if there are none', () => {
    const inputs = { city: 'Bonn', month: 'May', language: 'German', guests: '2' }
    expect(() => {
      assertInputs(trip, inputs)
    }).not.toThrow()
  })
})
