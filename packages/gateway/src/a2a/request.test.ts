import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { readA2aDecision, readBegin, readInputs } from './request.ts'

import type { RunEventOf } from '@tutti/protocol'

const AFTER: RunEventOf<'review_requested'> = {
  type: 'review_requested',
  reviewId: 'r',
  taskDescription: 'Sing',
  taskOutput: 'La',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 0,
  onTimeout: 'CONTINUE',
  taskName: 'sing',
  taskIndex: 1,
  attempt: 1,
  agentRole: 'Singer',
  requestedAt: '2026-01-01T00:00:00Z',
}
const CALL: RunEventOf<'review_requested'> = {
  ...AFTER,
  kind: 'TOOL_CALL',
  timing: 'DURING_EXECUTION',
  toolName: 't',
  toolInput: { a: 1 },
}
const QUESTION: RunEventOf<'review_requested'> = {
  ...AFTER,
  kind: 'QUESTION',
  timing: 'DURING_EXECUTION',
  taskDescription: 'Which?',
  prompt: 'Which?',
  toolName: 't',
}
/** A text tool that requires approval: its input is not a question. */
const TEXT_CALL: RunEventOf<'review_requested'> = {
  ...CALL,
  taskDescription: 'Runs a command',
  toolInput: 'ls',
}

const content = (text: string, ...data: readonly unknown[]) => ({ text, data })

describe('readA2aDecision', () => {
  it.each([
    [{ decision: 'CONTINUE' }, { decision: 'CONTINUE' }],
    [
      { decision: 'EDIT', revisedOutput: 'x', reviewId: 'r' },
      { decision: 'EDIT', revisedOutput: 'x' },
    ],
    [
      { decision: 'REJECT', feedback: 'x', other: 1 },
      { decision: 'REJECT', feedback: 'x' },
    ],
  ])('readA2aDecision accepts %j, the form that the REST API accepts', (data, decision) => {
    expect(readA2aDecision(content('words beside', [1], data), AFTER)).toEqual(decision)
    expect(readA2aDecision(content('', data), QUESTION)).toEqual(decision)
  })

  it.each([{ decision: 'MAYBE' }, { decision: 'EDIT' }, { decision: 7 }])(
    'readA2aDecision rejects %j',
    (data) => {
      expect(() => readA2aDecision(content('approve', data), AFTER)).toThrow(
        'Invalid decision: /message/parts/',
      )
    },
  )

  it.each(['approve', 'no', 'exit', '{"a":1}', ' two words '])(
    'readA2aDecision reads "%s" as the answer to a question',
    (text) => {
      const answer = { decision: 'EDIT', revisedOutput: text }
      expect(readA2aDecision(content(text), QUESTION)).toEqual(answer)
    },
  )

  it('readA2aDecision reads data as the answer to a question', () => {
    expect(readA2aDecision(content('', { key: 'D' }), QUESTION)).toEqual({
      decision: 'EDIT',
      revisedOutput: '{"key":"D"}',
    })
  })

  it('readA2aDecision reads JSON as the input of a tool, and rejects other text', () => {
    const edit = { decision: 'EDIT', revisedOutput: '{"a":2}' }
    expect(readA2aDecision(content('{"a":2}'), CALL)).toEqual(edit)
    for (const review of [CALL, TEXT_CALL]) {
      expect(() => readA2aDecision(content('a bit less'), review)).toThrow(
        'the input of the tool as JSON',
      )
    }
  })

  it.each([AFTER, CALL, QUESTION])(
    'readA2aDecision rejects a message without a decision',
    (review) => {
      expect(() => readA2aDecision(content(' '), review)).toThrow('must not be blank')
    },
  )
})

function band(description: string, inputs: readonly string[] = []) {
  const tasks = [task({ description })]
  return ensemble({ name: 'band', tasks, model: scriptedModel([]), inputs })
}

const [none, one, two] = [band('Sing'), band('Sing {song}'), band('Sing {song} in {hall}')]

describe('readInputs', () => {
  it.each([
    ['text for the one variable', one, content('Ode'), { song: 'Ode' }],
    ['data that name it', one, content('', { song: 'Ode' }), { song: 'Ode' }],
    [
      'data that name it, and words beside',
      one,
      content('please', { song: 'Ode' }),
      { song: 'Ode' },
    ],
    ['other data as JSON', one, content('', { key: 'D' }), { song: '{"key":"D"}' }],
    ['data whose value is no text as JSON', one, content('', { song: 1 }), { song: '{"song":1}' }],
    ['text and other data', one, content('Ode', [1]), { song: 'Ode\n[1]' }],
    [
      'data for two variables',
      two,
      content('', { song: 'Ode' }, { hall: 'A' }),
      { song: 'Ode', hall: 'A' },
    ],
    [
      'data for one, text for the other',
      two,
      content('A', { song: 'Ode' }),
      { song: 'Ode', hall: 'A' },
    ],
    ['a text of JSON', two, content('{"song":"Ode","hall":"A"}'), { song: 'Ode', hall: 'A' }],
    ['anything where nothing is needed', none, content('go', { a: 1 }), {}],
    [
      'data of an input that only the ensemble lists, text for the variable',
      band('Sing {song}', ['hall']),
      content('Ode', { hall: 'A' }),
      { song: 'Ode', hall: 'A' },
    ],
    [
      'data of an input where none is needed',
      band('Sing', ['hall']),
      content('go', { hall: 'A' }),
      { hall: 'A' },
    ],
  ])('readInputs reads %s', (_title, asked, message, inputs) => {
    expect(readInputs(asked, message)).toEqual(inputs)
  })

  it.each([
    ['text for two variables', two, content('Ode'), 'song, hall'],
    ['data for one of two', two, content(' ', { song: 'Ode' }), '/hall is required'],
    ['blank text', one, content(' \n'), '/song is required'],
  ])('readInputs rejects %s', (_title, asked, message, why) => {
    expect(() => readInputs(asked, message)).toThrow(why)
  })

  it('readInputs takes no value from an inherited property', () => {
    expect(() => readInputs(band('{toString} {song}'), content('', { song: 'a' }))).toThrow(
      '/toString',
    )
  })
})

describe('readBegin', () => {
  const [band, choir] = ['band', 'choir'].map((name) =>
    ensemble({ name, tasks: [task({ description: 'Play' })], model: scriptedModel([]) }),
  )
  const begin = (metadata?: object, ofMessage?: object, headers: Record<string, string> = {}) =>
    readBegin(
      {
        message: {
          messageId: 'm',
          role: 'ROLE_USER',
          parts: [{ text: '' }],
          ...(ofMessage === undefined ? {} : { metadata: ofMessage }),
        },
        ...(metadata === undefined ? {} : { metadata }),
      },
      // NOTE: the subject uses only the ensembles.
      {
        agent: { ensembles: [band, choir] } as unknown as Parameters<typeof readBegin>[1]['agent'],
        headers: new Headers(headers),
        name: 'ci',
      },
    )

  it('A task takes the ensemble that the request names, or else the message, or else the first', () => {
    expect(begin({ ensemble: 'choir' }, { ensemble: 'band' }).ensemble).toBe(choir)
    expect(begin({}, { ensemble: 'choir' }).ensemble).toBe(choir)
    expect(begin().ensemble).toBe(band)
  })

  it.each(['chior', 7, 'BAND'])('A request is refused for the ensemble %j', (name) => {
    expect(() => begin({ ensemble: name })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          `must be a skill of this agent, one of band, choir, got ${JSON.stringify(name)}`,
        ),
      }),
    )
  })

  it('A submission takes the idempotency key, and without one has none', () => {
    expect(begin(undefined, undefined, { 'idempotency-key': 'k' }).idempotencyKey).toBe('k')
    expect(begin()).not.toHaveProperty('idempotencyKey')
  })
})
