import { describe, expect, test } from 'vitest'

import { joinFragments } from './tool-call-fragments.ts'

const createId = (): string => 'made'

test('The joiner of tool call fragments assigns interleaved fragments to their calls by index', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '' },
      { index: 1, id: 'b', name: 'g', args: '{"y"' },
      { index: 0, args: '{"x":' },
      { index: 1, args: ':2}' },
      { index: 0, args: '1}' },
    ],
    createId,
  )
  expect(calls).toEqual([
    { id: 'a', name: 'f', arguments: '{"x":1}' },
    { id: 'b', name: 'g', arguments: '{"y":2}' },
  ])
})

test('The joiner of tool call fragments treats two ids at one index as two calls, and adds fragments without an id to the later one', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'b', name: 'g', args: '{"y":' },
      { index: 0, args: '1}' },
    ],
    createId,
  )
  expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"y":1}'])
})

test('The joiner of tool call fragments does not concatenate repeated ids and names', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f', args: '{"x"' },
      { index: 0, id: 'a', name: 'f', args: ':1}' },
    ],
    createId,
  )
  expect(calls).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }])
})

describe('fragments without an index', () => {
  test('Fragments without an index extend the last call when they have neither id nor name', () => {
    const calls = joinFragments(
      [{ id: 'a', name: 'f', args: '{' }, { args: '}' }, { id: 'b', name: 'f' }, { args: '[]' }],
      createId,
    )
    expect(calls.map((call) => call.arguments)).toEqual(['{}', '[]'])
  })

  test('Fragments without an index start a new call with a created id when they have a name but no id', () => {
    const calls = joinFragments(
      [
        { name: 'f', args: '{}' },
        { name: 'f', id: '', args: '{}' },
      ],
      createId,
    )
    expect(calls.map((call) => call.id)).toEqual(['made', 'made'])
  })
})

test('The joiner of tool call fragments returns missing arguments as an empty object and malformed JSON unchanged', () => {
  const calls = joinFragments(
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'f', args: '{"x' },
    ],
    createId,
  )
  expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"x'])
})
