import { describe, expect, it } from 'vitest'

import { toInvocationArguments } from './tool-arguments.ts'

const typed = { name: 'tune', kind: 'typed' } as const
const text = { name: 'say', kind: 'text' } as const

describe('toInvocationArguments', () => {
  it.each(['What is 42 * 17?', '', ' ', '{"input":"a"}', '42', 'null'])(
    'toInvocationArguments passes a text to a text tool unchanged: %j',
    (input) => {
      expect(toInvocationArguments(text, input)).toEqual({ ok: true, value: input })
    },
  )

  it('toInvocationArguments passes an object to either kind of tool unchanged', () => {
    const input = { input: 'a', more: [1] }
    expect(toInvocationArguments(text, input)).toEqual({ ok: true, value: input })
    expect(toInvocationArguments(typed, input)).toEqual({ ok: true, value: input })
  })

  it('toInvocationArguments parses the JSON text of an object for a typed tool', () => {
    expect(toInvocationArguments(typed, ' {"hertz": 440} ')).toEqual({
      ok: true,
      value: { hertz: 440 },
    })
  })

  it.each([
    ['440', 'JSON of a number'],
    ['"a"', 'JSON of a string'],
    ['true', 'JSON of a boolean'],
    ['[{}]', 'JSON of an array'],
    ['null', 'JSON of null'],
    ['A above middle C', 'not JSON ('],
    ['', 'not JSON ('],
    ['{"hertz": 440', 'not JSON ('],
  ])('toInvocationArguments rejects any other text for a typed tool: %j', (input, why) => {
    expect(toInvocationArguments(typed, input)).toEqual({
      ok: false,
      problems: [
        {
          path: '',
          message: expect.stringContaining(
            `must be an object, the input of tool "tune", or its JSON text: the text is ${why}`,
          ),
          expected: 'object',
        },
      ],
    })
  })
})
