import { describe, expect, it } from 'vitest'

import { Completion } from './completion.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** An event of the output task with only the fields that are read. */
const event = (type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent =>
  ({ type, seq: 0, taskName: 'last', ...fields }) as LoggedRunEvent

const started = event('ensemble_started', { tasks: [{ name: 'last' }], outputTask: 'last' })
const turn = event('llm_iteration_started')
const token = (text: string) => event('token', { token: text })
const done = (output: string) => event('task_completed', { output })

/** Returns the end of a run with these events. */
function resultOf(events: readonly LoggedRunEvent[]): LoggedRunEvent {
  const outputs = events.filter((one) => one.type === 'task_completed')
  return event('run_result', { status: 'COMPLETED', outputs, outputTask: 'last' })
}

function textsOf(streamsText: boolean, ...events: readonly LoggedRunEvent[]): readonly string[] {
  const completion = new Completion({ answered: [], streamsText })
  return [started, ...events, resultOf(events)].flatMap((one) =>
    completion.take(one).flatMap(({ content }) => content ?? []),
  )
}

function reasoningOf(...events: readonly LoggedRunEvent[]): readonly string[] {
  const completion = new Completion({ answered: [], streamsText: false })
  return [started, ...events, resultOf(events)].flatMap((one) =>
    completion.take(one).flatMap(({ reasoning_content: text }) => text ?? []),
  )
}

describe('[GW-K10] the reasoning of a completion', () => {
  const thought = (text: string) => event('reasoning', { text })
  const answered = (reasoning: string, fields: object = {}) =>
    event('llm_iteration_completed', { reasoning, ...fields })

  it('The reasoning of a completion is streamed apart from the text', () => {
    const events = [turn, thought('Let me '), thought('see.'), token('La'), answered('Let me see.')]
    expect(reasoningOf(...events, done('La'))).toEqual(['Let me ', 'see.'])
    expect(textsOf(true, ...events, done('La'))).toEqual(['La'])
  })

  it('The reasoning of a completion continues when a turn begins again with the same reasoning, else follows as a whole', () => {
    const half = [turn, thought('Let me'), turn]
    const same = [...half, thought('Let'), thought(' me see'), answered('Let me see')]
    expect(reasoningOf(...same)).toEqual(['Let me', ' see'])
    const other = [...half, thought('Hm'), answered('Hm')]
    expect(reasoningOf(...other)).toEqual(['Let me', '\n\nHm'])
  })

  it('The reasoning of a completion has an empty line between the turns', () => {
    const toolRequests = [{ name: 'tune', arguments: '{}', id: 'a' }]
    const first = [turn, thought('One'), answered('One', { toolRequests })]
    expect(reasoningOf(...first, turn, thought('One more'), answered('One more'))).toEqual([
      'One',
      '\n\nOne more',
    ])
  })

  it('The reasoning of a completion counts as a part of the output tokens', () => {
    const completion = new Completion({ answered: [], streamsText: true })
    const counts = { inputTokens: 3, outputTokens: 9, reasoningTokens: 7 }
    completion.take(event('llm_iteration_completed', counts))
    expect(completion.usage).toMatchObject({
      completion_tokens: 9,
      total_tokens: 12,
      completion_tokens_details: { reasoning_tokens: 7 },
    })
  })
})

it('[GW-K3] The usage of the second completion of a run does not include that of the first', () => {
  const answered = (counts: object) => event('llm_iteration_completed', counts)
  const first = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 8 }
  const second = { inputTokens: 130, outputTokens: 30, cachedInputTokens: 90, reasoningTokens: 5 }
  const decided = event('review_decided', { reviewId: 'call-1' })
  const completion = new Completion({ answered: ['call-1'], streamsText: true })
  for (const one of [started, turn, answered(first), decided, turn, answered(second)]) {
    completion.take(one)
  }
  expect(completion.usage).toEqual({
    prompt_tokens: 130,
    completion_tokens: 30,
    total_tokens: 160,
    prompt_tokens_details: { cached_tokens: 90 },
    completion_tokens_details: { reasoning_tokens: 5 },
  })
})

describe('the text of a completion', () => {
  it('[GW-K4] The text of a completion continues the sent text when a turn begins again with the same text', () => {
    const events = [turn, token('La'), turn, token('L'), token('a'), token(' la'), done('La la')]
    expect(textsOf(true, ...events)).toEqual(['La', ' la'])
  })

  it('[GW-K4] The text of a completion ends with the output if it is not the text that was sent', () => {
    const events = [turn, token('La'), turn, token('Lu'), token(' lu'), done('Lu lu')]
    expect(textsOf(true, ...events)).toEqual(['La', '\n\nLu lu'])
  })

  it('[GW-K4] The text of a completion is only the output with a response format', () => {
    const events = [turn, token('{'), turn, token('{}'), done('{}')]
    expect(textsOf(false, ...events)).toEqual(['{}'])
  })

  it('[GW-K12] The text of a completion has the text before calls of the server as reasoning, streamed or not', () => {
    const called = event('llm_iteration_completed', {
      toolRequests: [{ name: 'tune', arguments: '{}', id: 'a' }],
    })
    const answered = event('llm_iteration_completed', { responseText: 'La la' })
    const commented = [turn, token('One '), token('moment'), called]
    const events = [started, ...commented, turn, token('La'), token(' la'), answered, done('La la')]
    for (const streamsText of [true, false]) {
      const completion = new Completion({ answered: [], streamsText, callsTools: true })
      const deltas = [...events, resultOf(events)].flatMap((one) => completion.take(one))
      expect(deltas).toEqual([{ reasoning_content: 'One moment' }, { content: 'La la' }])
      expect(completion.end).toMatchObject({ kind: 'message', content: 'La la' })
    }
  })

  it('[GW-K12] The text of a completion has the text before calls of the client as content', () => {
    const called = event('llm_iteration_completed', {
      toolRequests: [{ name: 'look', arguments: '{}', id: 'a' }],
    })
    const options = { answered: [], streamsText: true, callsTools: true, clientTools: ['look'] }
    const completion = new Completion(options)
    const deltas = [started, turn, token('One moment'), called].flatMap((one) =>
      completion.take(one),
    )
    expect(deltas).toEqual([{ content: 'One moment' }])
  })
})
