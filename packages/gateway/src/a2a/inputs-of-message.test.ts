import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { inputInWords, inputsOfMessage } from './inputs-of-message.ts'

function band(description: string) {
  const tasks = [task({ description })]
  return ensemble({ name: 'band', tasks, model: scriptedModel([]) })
}

const said = (text: string, ...data: readonly unknown[]) => ({ text, data })

const [none, one, two] = [band('Sing'), band('Sing {song}'), band('Sing {song} in {hall}')]

describe('inputsOfMessage', () => {
  it.each([
    ['text for the one variable', one, said('Ode'), { song: 'Ode' }],
    ['data that name it', one, said('', { song: 'Ode' }), { song: 'Ode' }],
    ['data that name it, and words beside', one, said('please', { song: 'Ode' }), { song: 'Ode' }],
    ['other data as JSON', one, said('', { key: 'D' }), { song: '{"key":"D"}' }],
    ['data whose value is no text as JSON', one, said('', { song: 1 }), { song: '{"song":1}' }],
    ['text and other data', one, said('Ode', [1]), { song: 'Ode\n[1]' }],
    [
      'data for two variables',
      two,
      said('', { song: 'Ode' }, { hall: 'A' }),
      { song: 'Ode', hall: 'A' },
    ],
    [
      'data for one, text for the other',
      two,
      said('A', { song: 'Ode' }),
      { song: 'Ode', hall: 'A' },
    ],
    ['a text of JSON', two, said('{"song":"Ode","hall":"A"}'), { song: 'Ode', hall: 'A' }],
    ['anything where nothing is needed', none, said('go', { a: 1 }), {}],
  ])('takes %s', (_title, asked, message, inputs) => {
    expect(inputsOfMessage(asked, message)).toEqual(inputs)
  })

  it.each([
    ['text for two variables', two, said('Ode'), 'song, hall'],
    ['data for one of two', two, said(' ', { song: 'Ode' }), '/hall is required'],
    ['blank text', one, said(' \n'), '/song is required'],
  ])('refuses %s', (_title, asked, message, why) => {
    expect(() => inputsOfMessage(asked, message)).toThrow(why)
  })

  it('takes no value from what every object has', () => {
    expect(() => inputsOfMessage(band('{toString} {song}'), said('', { song: 'a' }))).toThrow(
      '/toString',
    )
  })
})

describe('inputInWords', () => {
  it.each([
    [none, 'It takes no input: any message starts it.'],
    [one, 'Input: text, which is its variable "song".'],
    [two, 'Input: data, an object of strings with the fields song, hall.'],
  ])('says what an ensemble takes', (asked, words) => {
    expect(inputInWords(asked)).toBe(words)
  })
})
