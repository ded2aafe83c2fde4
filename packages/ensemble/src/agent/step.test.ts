import { describe, expect, it } from 'vitest'

import { decideStep, decideToolChoice } from './step.ts'

const call = { id: 'call-1', name: 'look', arguments: '{}' }

describe('decideStep', () => {
  it('decideStep takes a reply without tool calls as the answer, also an empty one', () => {
    expect(decideStep({ text: 'Done', toolCalls: [] }, 'auto')).toEqual({
      kind: 'answer',
      text: 'Done',
    })
    expect(decideStep({ text: '', toolCalls: [] }, 'auto')).toEqual({ kind: 'answer', text: '' })
  })

  it('decideStep makes tool calls, also when the reply has text', () => {
    expect(decideStep({ text: 'Let me look', toolCalls: [call] }, 'auto')).toEqual({
      kind: 'call_tools',
      calls: [call],
    })
  })

  it('[ENS-L4] decideStep takes the reply of the final turn as the answer, also when it requests tools', () => {
    expect(decideStep({ text: 'Best guess', toolCalls: [call] }, 'none')).toEqual({
      kind: 'answer',
      text: 'Best guess',
    })
  })
})

it('[ENS-L11] Tool calls of one turn get unique ids, also when the model repeats an id', () => {
  const ids = ['a', 'a', 'b', '', 'a#2', 'a', '']
  const toolCalls = ids.map((id) => ({ ...call, id }))
  const step = decideStep({ text: '', toolCalls }, 'auto')
  const given = step.kind === 'call_tools' ? step.calls.map(({ id }) => id) : []
  expect(given).toEqual(['a', 'a#2', 'b', '', 'a#2#2', 'a#3', '#2'])
})

describe('[ENS-L4] decideToolChoice', () => {
  it.each([
    [0, 1, 'auto'],
    [1, 1, 'none'],
    [24, 25, 'auto'],
    [25, 25, 'none'],
    [26, 25, 'none'],
  ] as const)('decideToolChoice returns for index %i with limit %i: %s', (index, limit, choice) => {
    expect(decideToolChoice(index, limit)).toBe(choice)
  })
})
