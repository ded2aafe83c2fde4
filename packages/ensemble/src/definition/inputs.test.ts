import { describe, expect, it } from 'vitest'

import {
  assertInputs,
  findUnknownInputs,
  inputVariables,
  missingInputs,
  namedInputs,
  taskVariables,
} from './inputs.ts'
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
  it('Template variables of a task are those of both its texts, each once, in order of appearance', () => {
    expect(taskVariables(plan)).toEqual(['city', 'month', 'language'])
    expect(taskVariables(book)).toEqual(['city', 'guests'])
  })

  it('Template variables of several tasks are those of all of them, each once', () => {
    expect(inputVariables([plan, book])).toEqual(['city', 'month', 'language', 'guests'])
    expect(inputVariables([])).toEqual([])
  })
})

describe('missing inputs', () => {
  it('Missing inputs are the variables without a value; an empty text is a value, and extra inputs are ignored', () => {
    expect(missingInputs(trip.tasks, { month: '', language: 'German', extra: 'x' })).toEqual([
      'city',
      'guests',
    ])
  })

  it('Missing inputs include variables with the names of inherited properties', () => {
    expect(missingInputs([task({ description: 'Say {toString}' })], {})).toEqual(['toString'])
  })

  it('[ENS-E1] Missing inputs are all named in one error', () => {
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
    '[ENS-E29] An input "%s" in braces is refused, because a template cannot have the name',
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
    '[ENS-E29] An input "%s" in braces is replaced, and required',
    (name) => {
      const greet = task({ description: `Say {${name}}` })
      expect(renderTask(greet, { [name]: 'x' }).description).toBe('Say x')
      expect(missingInputs([greet], {})).toEqual([name])
    },
  )

  it('[ENS-E29] A million braces are checked in time that grows with the text', () => {
    const tasks = [task({ description: `${'{a b} '.repeat(100_000)}${'{'.repeat(100_000)}` })]
    const inputs = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x ${at}`, '']))
    expect(() => {
      assertInputs({ name: 'trip', tasks }, inputs)
    }).not.toThrow()
  })

  it('Missing inputs cause no error if there are none', () => {
    const inputs = { city: 'Bonn', month: 'May', language: 'German', guests: '2' }
    expect(() => {
      assertInputs(trip, inputs)
    }).not.toThrow()
  })
})

describe('[ENS-E30] unknown inputs', () => {
  const greet = task({ description: 'Greet {customer} about {message}' })
  const read = task({ name: 'read', description: 'Read', handler: () => 'x' })
  const check = (
    given: readonly string[],
    { tasks = [greet], ...more }: Partial<Parameters<typeof findUnknownInputs>[0]> = {},
  ): void => {
    const inputs = Object.fromEntries(given.map((name) => [name, 'x']))
    const one = { name: 'trip', tasks, ...more }
    assertInputs(one, inputs, findUnknownInputs(one, inputs))
  }

  it('Unknown inputs are refused with all names, the known ones and a suggestion', () => {
    const known = '(known: customer, message)'
    const problems = [
      {
        path: '/inputs/mesage',
        message: `is not a known input ${known}. Did you mean "message"?`,
      },
      { path: '/inputs/x', message: `is not a known input ${known}` },
    ]
    expect(() => {
      check(['customer', 'message', 'mesage', 'x'])
    }).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message: `Cannot run "trip": ${problems.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
        details: { problems },
      }),
    )
  })

  it('[ENS-E1] Unknown inputs are refused together with the missing inputs', () => {
    const problem = {
      path: '/inputs/mesage~1',
      message: 'is not a known input (known: customer, message). Did you mean "message"?',
    }
    expect(() => {
      check(['mesage/'])
    }).toThrow(
      expect.objectContaining({
        code: 'INPUT_MISSING',
        message: `Cannot run "trip": ${problem.path} ${problem.message}; missing inputs: customer, message`,
        details: { missing: ['customer', 'message'], problems: [problem] },
      }),
    )
  })

  it('Unknown inputs are those that the ensemble does not name', () => {
    const named = { tasks: [greet, read], inputs: ['locale', 'message'] }
    expect(namedInputs(named)).toEqual(['customer', 'message', 'locale'])
    expect(namedInputs({ tasks: [read] })).toEqual([])
  })

  it('Unknown inputs are refused if the ensemble lists its inputs, also next to handlers and without variables', () => {
    expect(() => {
      check(['customer', 'message', 'locale'], { tasks: [greet, read], inputs: ['locale'] })
    }).not.toThrow()
    for (const tasks of [[greet, read], [read]]) {
      expect(() => {
        check(['locael'], { tasks, inputs: ['locale'] })
      }).toThrow('Did you mean "locale"?')
    }
    expect(() => {
      check(['x'], { tasks: [read], inputs: [] })
    }).toThrow('/inputs/x is not a known input (there are none)')
  })

  it.each([
    ['a task has a handler', [greet, read]],
    ['no task has a variable', [task({ description: 'Stay' })]],
  ])('Unknown inputs are accepted if %s', (_, tasks) => {
    expect(() => {
      check(['customer', 'message', 'anything'], { tasks })
    }).not.toThrow()
  })

  it('Unknown inputs do not include one that a text has in braces, which is refused for its name', () => {
    expect(() => {
      check(['a b'], { tasks: [task({ description: 'Say {a b} to {who}' })] })
    }).toThrow('a template cannot have the inputs a b')
  })
})
