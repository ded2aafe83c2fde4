import { describe, expect, it } from 'vitest'

import { decideStep, decideTurnKind } from './step.ts'

const call = { id: 'call-1', name: 'look', arguments: '{}' }

describe('decideStep', () => {
  it('decideStep takes a reply without tool calls as the answer, also an empty one', () => {
    expect(decideStep({ text: 'Done', toolCalls: [] }, 'open')).toEqual({
      kind: 'answer',
      text: 'Done',
    })
    expect(decideStep({ text: '', toolCalls: [] }, 'open')).toEqual({ kind: 'answer', text: '' })
  })

  it('decideStep makes tool calls, also when the reply has text', () => {
    expect(decideStep({ text: 'Let me look', toolCalls: [call] }, 'open')).toEqual({
      kind: 'call_tools',
      calls: [call],
    })
  })

  it('[ENS-L4] decideStep takes the reply of the final turn as the answer, also when it requests tools', () => {
    expect(decideStep({ text: 'Best guess', toolCalls: [call] }, 'final')).toEqual({
      kind: 'answer',
      text: 'Best guess',
    })
  })
})

it('[ENS-L11] Tool calls of one turn get unique ids, also when the model repeats an id', () => {
  const ids = ['a', 'a', 'b', '', 'a#2', 'a', '']
  const toolCalls = ids.map((id) => ({ ...call, id }))
  const step = decideStep({ text: '', toolCalls }, 'open')
  const given = step.kind === 'call_tools' ? step.calls.map(({ id }) => id) : []
  expect(given).toEqual(['a', 'a#2', 'b', '', 'a#2#2', 'a#3', '#2'])
})

describe('[ENS-L4] decideTurnKind', () => {
  it.each([
    [0, 1, 'open'],
    [1, 1, 'final'],
    [24, 25, 'open'],
    [25, 25, 'final'],
    [26, 25, 'final'],
  ] as const)('decideTurnKind returns for index %i with limit %i: %s', (index, limit, kind) => {
    expect(decideTurnKind(index, limit)).toBe(kind)
  })
})
