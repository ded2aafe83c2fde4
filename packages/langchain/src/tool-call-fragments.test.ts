import { describe, expect, test } from 'vitest'

import { joinFragments } from './tool-call-fragments.ts'

const made = (): string => 'made'

test('pieces of calls that come in turns go to their calls by index', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '' },
      { index: 1, id: 'b', name: 'g', args: '{"y"' },
      { index: 0, args: '{"x":' },
      { index: 1, args: ':2}' },
      { index: 0, args: '1}' },
    ],
    made,
  )
  expect(calls).toEqual([
    { id: 'a', name: 'f', arguments: '{"x":1}' },
    { id: 'b', name: 'g', arguments: '{"y":2}' },
  ])
})

test('two ids at one index are two calls, and pieces without an id belong to the later', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'b', name: 'g', args: '{"y":' },
      { index: 0, args: '1}' },
    ],
    made,
  )
  expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"y":1}'])
})

test('an id or a name that is repeated with each piece is not put together', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '{"x"' },
      { index: 0, id: 'a', name: 'f', args: ':1}' },
    ],
    made,
  )
  expect(calls).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }])
})

describe('without an index', () => {
  test('pieces with neither id nor name go on with the last call', () => {
    const calls = joinFragments(
      [{ id: 'a', name: 'f', args: '{' }, { args: '}' }, { id: 'b', name: 'f' }, { args: '[]' }],
      made,
    )
    expect(calls.map((call) => call.arguments)).toEqual(['{}', '[]'])
  })

  test('each named piece without an id is a call of its own, and gets an id', () => {
    const calls = joinFragments(
      [
        { name: 'f', args: '{}' },
        { name: 'f', id: '', args: '{}' },
      ],
      made,
    )
    expect(calls.map((call) => call.id)).toEqual(['made', 'made'])
  })
})

test('no arguments are an empty object; arguments that are no JSON stay as they are', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'f', args: '{"x' },
    ],
    made,
  )
  expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"x'])
})
