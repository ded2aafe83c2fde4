import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import type { TurnState } from './turn-state.ts'
import { failRunningTurns, discardRunningTurns, applyToTurns, type TurnEvent } from './turns.ts'

const after = (events: readonly TurnEvent[], turns: readonly TurnState[] = []) =>
  events.reduce(applyToTurns, turns)
const newestOf = (events: readonly TurnEvent[]): TurnState => {
  const turn = after(events).at(-1)
  if (turn === undefined) throw new TypeError('No turn')
  return turn
}
const resumedAt = '2025-03-15T10:31:00Z'
const begun = (iterationIndex = 0, model = 'sonnet') =>
  eventOf('llm_iteration_started', { iterationIndex, model })
const token = (text: string, iterationIndex = 0) =>
  eventOf('token', { token: text, iterationIndex })
const thought = (text: string, iterationIndex = 0) => eventOf('reasoning', { text, iterationIndex })
const answered = (iterationIndex = 0) =>
  eventOf('llm_iteration_completed', {
    iterationIndex,
    responseType: 'FINAL_ANSWER',
    responseText: 'Whole',
    toolRequests: undefined,
  })
const askedForTools = (iterationIndex = 0) => eventOf('llm_iteration_completed', { iterationIndex })

describe('llm_iteration_started', () => {
  it('llm_iteration_started begins a turn with the messages of the model', () => {
    const event = begun()
    expect(after([event])).toEqual([
      {
        iterationIndex: 0,
        model: 'sonnet',
        status: 'RUNNING',
        text: '',
        messages: event.messages,
        totalMessageCount: 3,
        startedAt: '2025-03-15T10:30:00.270Z',
        toolCalls: [],
        failures: [],
      },
    ])
  })

  it('llm_iteration_started sets the time of the latest model call of a turn that begins again', () => {
    const startedAt = '2025-03-15T10:30:09Z'
    const again = eventOf('llm_iteration_started', { startedAt })
    const [turn] = after([begun(), answered(), again])
    expect(turn?.startedAt).toBe(startedAt)
    expect(turn).not.toHaveProperty('completedAt')
  })

  it('llm_iteration_started of a known turn begins it again: its tokens are void, its failures stay', () => {
    const failed = eventOf('llm_iteration_failed', { retryInMs: undefined, nextModel: 'haiku' })
    const [turn, ...others] = after([
      begun(),
      token('Old'),
      failed,
      begun(0, 'haiku'),
      token('New'),
    ])
    expect(others).toEqual([])
    expect(turn).toMatchObject({ status: 'RUNNING', text: 'New', model: 'haiku' })
    expect(turn?.failures).toHaveLength(1)
  })

  it('llm_iteration_started removes later turns and keeps earlier ones', () => {
    const turns = after([begun(0), answered(0), begun(1), answered(1), begun(2), begun(1)])
    expect(turns.map(({ iterationIndex, status }) => [iterationIndex, status])).toEqual([
      [0, 'COMPLETED'],
      [1, 'RUNNING'],
    ])
  })
})

describe('token', () => {
  it('The event `token` appends to the text of its turn', () => {
    const turns = after([
      begun(0),
      token('Zero'),
      answered(0),
      begun(1),
      token('A', 1),
      token('B', 1),
    ])
    expect(turns.map(({ text }) => text)).toEqual(['Whole', 'AB'])
  })

  it('The event `token` has no effect on a turn that is not running or unknown', () => {
    const turns = after([begun(), answered()])
    expect(applyToTurns(turns, token('Late'))).toBe(turns)
    expect(applyToTurns(turns, token('Lost', 7))).toBe(turns)
  })
})

describe('reasoning', () => {
  it('The event `reasoning` appends to the reasoning of its turn, and not to its text', () => {
    const [turn] = after([begun(), thought('Let me '), thought('see.'), token('Yes')])
    expect(turn).toMatchObject({ reasoning: 'Let me see.', text: 'Yes' })
    expect(after([begun(), token('Yes')])[0]).not.toHaveProperty('reasoning')
  })

  it('The event `reasoning` has no effect on a turn that is not running or unknown', () => {
    const turns = after([begun(), answered()])
    expect(applyToTurns(turns, thought('Late'))).toBe(turns)
    expect(applyToTurns(turns, thought('Lost', 7))).toBe(turns)
  })

  it('Reasoning of a call that begins again, or of a lost process, is void', () => {
    const failed = eventOf('llm_iteration_failed', { iterationIndex: 0 })
    const half = [begun(), thought('Half')]
    expect(newestOf([...half, failed, begun()])).not.toHaveProperty('reasoning')
    const [turn] = discardRunningTurns(
      after([begun(), failed, begun(), thought('Half')]),
      resumedAt,
    )
    expect(turn).toMatchObject({ status: 'FAILED', text: '' })
    expect(turn).not.toHaveProperty('reasoning')
  })

  it('The event `reasoning` is replaced by the whole reasoning of the answered call, which says when it is only its start', () => {
    const end = { reasoning: 'Let me see', reasoningTruncated: true, reasoningTokens: 7 } as const
    const whole = eventOf('llm_iteration_completed', { iterationIndex: 0, ...end })
    expect(newestOf([begun(), thought('Let me '), whole])).toMatchObject(end)
    expect(newestOf([begun(), thought('Let me '), answered()]).reasoning).toBe('Let me ')
  })
})

describe('llm_iteration_completed', () => {
  it('llm_iteration_completed sets the whole text, the usage and the duration', () => {
    expect(after([begun(), token('Who'), answered()])[0]).toMatchObject({
      status: 'COMPLETED',
      text: 'Whole',
      responseType: 'FINAL_ANSWER',
      toolCalls: [],
      inputTokens: 812,
      outputTokens: 41,
      latencyMs: 1730,
      costUsd: 0.0031,
    })
  })

  it('llm_iteration_completed keeps the streamed text when it has no text', () => {
    expect(after([begun(), token('I search'), askedForTools()])[0]?.text).toBe('I search')
  })

  it('llm_iteration_completed adds the requested calls as running', () => {
    expect(after([begun(), askedForTools()])[0]?.toolCalls).toMatchObject([
      { id: 'call-1', name: 'web_search', status: 'RUNNING' },
    ])
  })

  it('llm_iteration_completed sets the time of the answer, which is also the start of its calls', () => {
    const at = { startedAt: '2025-03-15T10:30:00.270Z', completedAt: '2025-03-15T10:30:02Z' }
    const [turn] = after([begun(), askedForTools()])
    expect(turn).toMatchObject({ ...at, toolCalls: [{ startedAt: at.completedAt }] })
    expect(turn?.toolCalls[0]).not.toHaveProperty('completedAt')
  })

  it('A completed turn derives the time of its model call when its start is missing', () => {
    const startedAt = '2025-03-15T10:30:00.270Z'
    expect(after([answered()])[0]?.startedAt).toBe(startedAt)
  })

  it('llm_iteration_completed sets no cost when no price is known', () => {
    const event = eventOf('llm_iteration_completed', { costUsd: undefined })
    expect(after([begun(), event])[0]).not.toHaveProperty('costUsd')
  })

  it('llm_iteration_completed creates its turn when the start is missing', () => {
    expect(after([begun(2), answered(1)]).map(({ iterationIndex }) => iterationIndex)).toEqual([
      1, 2,
    ])
  })
})

describe('llm_iteration_failed', () => {
  it('llm_iteration_failed fails the turn, keeps its text and sets the retry', () => {
    const turns = after([begun(), token('Half'), eventOf('llm_iteration_failed')])
    expect(turns[0]).toMatchObject({ status: 'FAILED', text: 'Half', isWithdrawn: true })
    expect(turns[0]?.failures).toEqual([
      {
        model: 'sonnet',
        reason: 'Model "sonnet" answered with HTTP 529: overloaded',
        code: 'MODEL_FAILED',
        latencyMs: 310,
        failedAt: '2025-03-15T10:30:02.310Z',
        retryInMs: 1000,
      },
    ])
  })

  it('llm_iteration_failed names the fallback that is called next', () => {
    const event = eventOf('llm_iteration_failed', { retryInMs: undefined, nextModel: 'haiku' })
    expect(after([begun(), event, event])[0]?.failures).toMatchObject([
      { nextModel: 'haiku' },
      { nextModel: 'haiku' },
    ])
    expect(after([event])[0]?.failures[0]).not.toHaveProperty('retryInMs')
  })
})

describe('an event of a tool call', () => {
  it('An event of a tool call changes the calls of its turn', () => {
    const turns = after([
      begun(),
      askedForTools(),
      eventOf('tool_progress', { toolCallId: 'call-1' }),
      eventOf('tool_called', { toolCallId: 'call-1' }),
    ])
    expect(turns[0]?.toolCalls).toMatchObject([
      { id: 'call-1', status: 'SUCCEEDED', progress: { fraction: 0.6 } },
    ])
  })
})

it('[PROTO-S6] An event of the last turn reads no earlier turn', () => {
  const unread = new Proxy(newestOf([begun(0), answered(0)]), {
    get: (_, field) => {
      throw new Error(`Read ${String(field)}`)
    },
  })
  const events = [
    begun(1),
    token('Half', 1),
    eventOf('llm_iteration_failed', { iterationIndex: 1 }),
    begun(1),
    askedForTools(1),
    eventOf('tool_progress', { iterationIndex: 1, toolCallId: 'call-1' }),
    eventOf('tool_called', { iterationIndex: 1, toolCallId: 'call-1' }),
    begun(2),
  ]
  const asked = newestOf([begun(1), askedForTools(1)])
  expect(after(events, [unread, asked]).slice(1)).toMatchObject([
    { status: 'COMPLETED', toolCalls: [{ status: 'SUCCEEDED' }] },
    { iterationIndex: 2, status: 'RUNNING' },
  ])
  expect(after([askedForTools(2)], [unread, asked])).toHaveLength(3)
})

describe('discardRunningTurns', () => {
  it('discardRunningTurns removes a running turn and keeps the completed ones', () => {
    const turns = after([begun(0), answered(0), begun(1), token('Half', 1)])
    expect(discardRunningTurns(turns, resumedAt)).toEqual([turns[0]])
  })

  it('discardRunningTurns keeps the failures of a running turn, without its text', () => {
    const failed = eventOf('llm_iteration_failed')
    const [turn] = discardRunningTurns(after([begun(), failed, begun(), token('Half')]), resumedAt)
    expect(turn).toMatchObject({ status: 'FAILED', text: '' })
    expect(turn?.failures).toHaveLength(1)
  })

  it('discardRunningTurns resets running tool calls, which start again', () => {
    const [asked] = after([begun(), askedForTools()])
    const turns = after([
      begun(),
      askedForTools(),
      eventOf('tool_progress', { toolCallId: 'call-1' }),
    ])
    const [call] = asked?.toolCalls ?? []
    expect(discardRunningTurns(turns, resumedAt)).toEqual([
      { ...asked, toolCalls: [{ ...call, startedAt: resumedAt }] },
    ])
  })

  it('discardRunningTurns returns the same turns when none was in flight', () => {
    const turns = after([begun(), answered()])
    expect(discardRunningTurns(turns, resumedAt)).toBe(turns)
  })
})

describe('failRunningTurns', () => {
  it('failRunningTurns fails an interrupted turn and keeps its text', () => {
    const turns = failRunningTurns(after([begun(0), askedForTools(0), begun(1), token('Half', 1)]))
    expect(turns.map(({ status, text }) => [status, text])).toEqual([
      ['COMPLETED', ''],
      ['FAILED', 'Half'],
    ])
    expect(turns[0]?.toolCalls[0]?.status).toBe('FAILED')
  })

  it('failRunningTurns returns the same turns when none was in flight', () => {
    const turns = after([begun(), answered()])
    expect(failRunningTurns(turns)).toBe(turns)
  })
})
