import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { parseInputs } from './inputs-in-text.ts'

function trip(...descriptions: readonly string[]) {
  const tasks = descriptions.map((description) => task({ description }))
  return ensemble({ name: 'trip', tasks, model: scriptedModel([]) })
}

const none = trip('Sing')
const one = trip('Sing {song}', 'Sing {song} again')
const two = trip('Sing {song} in {hall}')

describe('parseInputs', () => {
  it.each<[string, ReturnType<typeof trip>, string | undefined, Record<string, string>]>([
    ['a JSON object of strings', two, '{"song":"Ode","hall":"A"}', { song: 'Ode', hall: 'A' }],
    ['one with more fields', one, '{"song":"Ode","key":"D"}', { song: 'Ode', key: 'D' }],
    ['white space around it', one, '\n {"song":""} ', { song: '' }],
    ['text, where there is one variable', one, 'Ode to Joy', { song: 'Ode to Joy' }],
    ['text with white space', one, ' Ode\n', { song: ' Ode\n' }],
    ['JSON that is no object', one, '[1]', { song: '[1]' }],
    ['an object without the variable', one, '{"hall":"A"}', { song: '{"hall":"A"}' }],
    ['an object of other things', one, '{"song":1}', { song: '{"song":1}' }],
    ['no text, where nothing is needed', none, undefined, {}],
    ['blank text, where nothing is needed', none, ' \n', {}],
    ['an empty object, where nothing is needed', none, '{}', {}],
  ])('parseInputs accepts %s', (_title, asked, text, inputs) => {
    expect(parseInputs(asked, text)).toEqual(inputs)
  })

  it.each([undefined, '', ' \t'])(
    'parseInputs rejects blank text if one variable needs a value: %j',
    (text) => {
      expect(() => parseInputs(one, text)).toThrow(
        'Invalid text for "trip": /song is required: a task uses this template variable',
      )
    },
  )

  it('parseInputs rejects text for several variables, and reports the required inputs', () => {
    expect(() => parseInputs(two, 'Ode to Joy')).toThrow(
      'Invalid text for "trip": must be a JSON object of strings with the fields song, hall',
    )
  })

  it('parseInputs rejects text if there is no variable', () => {
    expect(() => parseInputs(none, 'Ode')).toThrow(
      'Invalid text for "trip": must be empty: no task has a template variable',
    )
  })

  it('parseInputs reports every problem of an object', () => {
    expect(() => parseInputs(two, '{"hall":7,"key":null}')).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        details: {
          problems: [
            expect.objectContaining({ path: '/song' }),
            { path: '/hall', message: 'must be a string, got 7', expected: 'string' },
            { path: '/key', message: 'must be a string, got null', expected: 'string' },
          ],
        },
      }),
    )
  })

  it('parseInputs takes no value from an inherited property', () => {
    const odd = trip('Sing {constructor}')
    expect(parseInputs(odd, '{}')).toEqual({ constructor: '{}' })
    expect(() => parseInputs(trip('{toString} {song}'), '{"song":"a"}')).toThrow('/toString')
  })
})
