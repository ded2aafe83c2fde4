import { describe, expect, it } from 'vitest'

import { Completion } from './completion.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** An event of the final task with only the fields that are read. */
const event = (type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent =>
  ({ type, seq: 0, taskName: 'last', ...fields }) as LoggedRunEvent

const started = event('ensemble_started', { tasks: [{ name: 'last' }] })
const turn = event('llm_iteration_started')
const token = (text: string) => event('token', { token: text })
const done = (output: string) => event('task_completed', { output })
const result = event('run_result', { status: 'COMPLETED', outputs: [] })

function textsOf(streamsText: boolean, ...events: readonly LoggedRunEvent[]): readonly string[] {
  const completion = new Completion({ answered: [], streamsText })
  return [started, ...events, result].flatMap((one) =>
    completion.take(one).flatMap(({ content }) => content ?? []),
  )
}

describe('the text of a completion', () => {
  it('[GW-K4] continues the sent text when a turn begins again with the same text', () => {
    const events = [turn, token('La'), turn, token('L'), token('a'), token(' la'), done('La la')]
    expect(textsOf(true, ...events)).toEqual(['La', ' la'])
  })

  it('[GW-K4] ends with the output if it is not the text that was sent', () => {
    const events = [turn, token('La'), turn, token('Lu'), token(' lu'), done('Lu lu')]
    expect(textsOf(true, ...events)).toEqual(['La', '\n\nLu lu'])
  })

  it('[GW-K4] is only the output with a response format', () => {
    const events = [turn, token('{'), turn, token('{}'), done('{}')]
    expect(textsOf(false, ...events)).toEqual(['{}'])
  })

  it('[GW-K4] has the text before tool calls, and the text after them', () => {
    const called = event('llm_iteration_completed', {
      toolRequests: [{ name: 'tune', arguments: '{}', id: 'a' }],
    })
    const events = [turn, token('One moment'), called, turn, token('La'), done('La')]
    expect(textsOf(true, ...events)).toEqual(['One moment', '\n\nLa'])
  })
})
