import { describe, expect, it } from 'vitest'

import { decideStep, decideTurnKind } from './step.ts'

const call = { id: 'call-1', name: 'look', arguments: '{}' }

describe('the step after a reply', () => {
  it('without tool calls is its answer, also when that is empty', () => {
    expect(decideStep({ text: 'Done', toolCalls: [] }, 'open')).toEqual({
      kind: 'answer',
      text: 'Done',
    })
    expect(decideStep({ text: '', toolCalls: [] }, 'open')).toEqual({ kind: 'answer', text: '' })
  })

  it('with tool calls is to make them, whatever text came along', () => {
    expect(decideStep({ text: 'Let me look', toolCalls: [call] }, 'open')).toEqual({
      kind: 'call_tools',
      calls: [call],
    })
  })

  it('[ENS-L4] of the final turn is the answer, whatever tools it asks for', () => {
    expect(decideStep({ text: 'Best guess', toolCalls: [call] }, 'final')).toEqual({
      kind: 'answer',
      text: 'Best guess',
    })
  })
})

it('[ENS-L11] calls of one turn have ids of their own, also when the model gave them the same', () => {
  const ids = ['a', 'a', 'b', '', 'a#2', 'a', '']
  const toolCalls = ids.map((id) => ({ ...call, id }))
  const step = decideStep({ text: '', toolCalls }, 'open')
  const given = step.kind === 'call_tools' ? step.calls.map(({ id }) => id) : []
  expect(given).toEqual(['a', 'a#2', 'b', '', 'a#2#2', 'a#3', '#2'])
})

describe('[ENS-L4] the kind of a turn', () => {
  it.each([
    [0, 1, 'open'],
    [1, 1, 'final'],
    [24, 25, 'open'],
    [25, 25, 'final'],
    [26, 25, 'final'],
  ] as const)('of index %i with a limit of %i is %s', (index, limit, kind) => {
    expect(decideTurnKind(index, limit)).toBe(kind)
  })
})
