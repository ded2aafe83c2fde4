import { ensemble, task } from '@tutti/ensemble'
import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { readCall } from './request.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const choir = ensemble({
  name: 'choir',
  tasks: [task({ description: 'Sing {song}' })],
  model: scriptedModel([]),
})

const read = (meta?: Readonly<Record<string, unknown>>, given: object = { song: 'Ode' }) =>
  readCall({ name: 'sing', given: { ...given }, meta }, choir)

it('The MCP request reader reads the arguments of a call as inputs, and tags the run with the name of the call', () => {
  expect(read()).toMatchObject({
    ensemble: choir,
    inputs: { song: 'Ode' },
    tags: { mcp: 'sing' },
    origin: { protocol: 'mcp', name: 'sing', arguments: { song: 'Ode' } },
    trace: {},
    limits: {},
  })
})

it('The MCP request reader reads the trace from `_meta`, and ignores an invalid one', () => {
  expect(read({ traceparent: TRACEPARENT }).trace).toEqual({ traceparent: TRACEPARENT })
  expect(read({ traceparent: '00-1-2-01' }).trace).toEqual({})
  expect(read({ traceparent: 7 }).trace).toEqual({})
})

it('The MCP request reader reads limits, and reports every invalid one', () => {
  const limits = { max_cost_usd: 0.5, max_tokens: 100, deadline_ms: 3_000 }
  expect(read({ [USAGE_EXTENSION]: limits }).limits).toEqual(limits)
  expect(() => read({ [USAGE_EXTENSION]: { max_cost_usd: 0, max_tokens: 'few' } })).toThrow(
    expect.objectContaining({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/_meta.*max_cost_usd[^]*max_tokens/),
    }),
  )
})

it('The MCP request reader rejects missing, unknown and non-text arguments', () => {
  expect(() => read(undefined, { hall: 'A' })).toThrow(/\/song is required.*\/hall is not a/)
  expect(() => read(undefined, { song: 1 })).toThrow('/song must be a string, got 1')
})

it('The MCP request reader reads the inputs that the ensemble lists, which are optional', () => {
  const listed = ensemble({
    name: 'choir',
    tasks: [task({ description: 'Sing {song}', handler: ({ inputs }) => inputs['hall'] ?? '' })],
    inputs: ['hall'],
  })
  const readListed = (given: Readonly<Record<string, unknown>>) =>
    readCall({ name: 'sing', given, meta: undefined }, listed).inputs
  expect(readListed({ song: 'Ode', hall: 'A' })).toEqual({ song: 'Ode', hall: 'A' })
  expect(readListed({ song: 'Ode' })).toEqual({ song: 'Ode' })
  expect(() => readListed({ song: 'Ode', hall: 1, 'a/b': 'x' })).toThrow(
    '/hall must be a string, got 1; /a~1b is not a known input (known: song, hall)',
  )
})
