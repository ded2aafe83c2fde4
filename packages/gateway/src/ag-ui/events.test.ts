import { describe, expect, it } from 'vitest'

import { AguiRun } from './events.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { AguiMessage } from './wire.ts'

const AT = '2026-01-01T00:00:00.000Z'
const TASK = { taskName: 'answer', taskIndex: 1, attempt: 1, agentRole: 'Agent' }
const TURN = { ...TASK, taskDescription: 'Answer', iterationIndex: 0, model: 'm' }

/** Events of a run, without what the codec does not read. */
function toEvents(events: readonly object[]): readonly LoggedRunEvent[] {
  // NOTE: the codec reads no other fields of these events.
  return events.map((event, seq) => ({
    runId: 'run-1',
    seq,
    id: `run-1:${seq}`,
    ...event,
  })) as never
}

const START = [
  { type: 'run_queued', queuedAt: AT },
  {
    type: 'ensemble_started',
    startedAt: AT,
    tasks: [{ name: 'answer', agentRole: 'Agent', description: 'Answer' }],
    outputTask: 'answer',
  },
  { type: 'task_started', ...TASK, taskDescription: 'Answer', startedAt: AT },
  { type: 'llm_iteration_started', ...TURN, startedAt: AT },
]

const token = (text: string) => ({ type: 'token', ...TURN, token: text, sentAt: AT })

const turn = (text: string, ...ids: readonly string[]) => ({
  type: 'llm_iteration_completed',
  ...TURN,
  inputTokens: 3,
  outputTokens: 2,
  responseText: text,
  toolRequests: ids.map((id) => ({ id, name: 'locate', arguments: '{}' })),
})

const asked = (id: string, more: object = {}) => ({
  type: 'review_requested',
  ...TASK,
  reviewId: `review-${id}`,
  kind: 'TOOL_CALL',
  timing: 'DURING_EXECUTION',
  toolCallId: id,
  toolName: 'locate',
  toolInput: {},
  taskDescription: 'Answer',
  taskOutput: '',
  timeoutMs: 0,
  requestedAt: AT,
  ...more,
})

const decided = (id: string) => ({
  type: 'review_decided',
  reviewId: `review-${id}`,
  decision: 'CONTINUE',
  decidedAt: AT,
})

const called = (id: string) => ({
  type: 'tool_called',
  ...TURN,
  toolName: 'locate',
  toolCallId: id,
  outcome: 'SUCCESS',
  toolResult: `result ${id}`,
})

const completed = (output: string) => [
  { type: 'task_completed', ...TASK, output, completedAt: AT, finishReason: 'stop' },
  {
    type: 'run_result',
    status: 'COMPLETED',
    outputs: [{ taskName: 'answer', output }],
    outputTask: 'answer',
  },
]

interface Reading {
  readonly answered?: readonly string[]
  readonly messages?: readonly AguiMessage[]
}

function read(events: readonly object[], { answered = [], messages = [] }: Reading = {}) {
  const run = new AguiRun({
    ids: { threadId: 'thread-1', runId: 'run-1' },
    run: { runId: 'run-1', ensemble: 'solo' },
    state: undefined,
    messages,
    answered: new Set(answered),
  })
  const sent = [...run.start(), ...toEvents(events).flatMap((event) => run.after([event]))]
  return { run, sent, types: sent.map(({ type }) => type) }
}

const textsOf = ({ sent }: ReturnType<typeof read>) =>
  sent.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : []))

describe('[GW-Y21] the reasoning of AG-UI', () => {
  const thought = (text: string) => ({ type: 'reasoning', ...TURN, text, sentAt: AT })
  const messages: readonly AguiMessage[] = [{ id: 'q', role: 'user', content: 'Sing' }]
  const describe = ({ sent }: ReturnType<typeof read>) =>
    sent.flatMap((event) => {
      if (event.type === 'MESSAGES_SNAPSHOT') return [event.messages.map(({ content }) => content)]
      if (!event.type.startsWith('REASONING') && !event.type.startsWith('TEXT')) return []
      return ['delta' in event ? event.delta : event.type]
    })

  it('The reasoning of AG-UI is a message before that of the text', () => {
    const usage = { reasoning: 'Let me see.', reasoningTokens: 1 }
    const reading = read([
      ...START,
      thought('Let me '),
      thought('see.'),
      token('La'),
      { ...turn('La'), ...usage },
      ...completed('La'),
    ])
    expect(describe(reading)).toEqual([
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'Let me ',
      'see.',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'La',
      'TEXT_MESSAGE_END',
    ])
    expect(reading.sent.at(-1)).toMatchObject({ usage: [{ outputTokens: 2, reasoningTokens: 1 }] })
  })

  it('The reasoning of a failed call is taken back, together with its text', () => {
    const failed = { type: 'llm_iteration_failed', ...TURN, failedAt: AT }
    const again = { type: 'llm_iteration_started', ...TURN, startedAt: AT }
    const after = [failed, again, thought('Whole'), token('Lu'), turn('Lu'), ...completed('Lu')]
    const reading = read([...START, thought('Half'), token('La'), ...after], { messages })
    const shown = describe(reading)
    expect(shown).toContainEqual(['Sing'])
    expect(shown.filter((one) => typeof one === 'object')).toHaveLength(1)
    const ids = reading.sent.flatMap((event) =>
      event.type === 'REASONING_MESSAGE_START' ? [event.messageId] : [],
    )
    expect(new Set(ids).size).toBe(2)
    const early = read([...START, thought('Half'), ...after], { messages })
    expect(describe(early)).toContainEqual(['Sing'])
  })

  it('The reasoning of AG-UI remains when a later text is taken back', () => {
    const attempt = { type: 'task_attempt_failed', ...TASK, code: 'TASK_FAILED', failedAt: AT }
    const reading = read([...START, thought('Hm'), token('La'), turn('La'), attempt], { messages })
    expect(describe(reading).at(-1)).toEqual(['Sing', 'Hm'])
  })
})

describe('the events of AG-UI', () => {
  it('[GW-Y6][GW-Y9][GW-Y10] The events of AG-UI have the text of the output task in a message, between its step', () => {
    const reading = read([
      ...START,
      token('La '),
      token('la'),
      turn('La la'),
      ...completed('La la'),
    ])
    expect(reading.types.filter((type) => type !== 'STATE_DELTA')).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ])
    expect(textsOf(reading)).toEqual(['La ', 'la'])
    expect(reading.sent.at(-1)).toMatchObject({
      outcome: { type: 'success' },
      result: 'La la',
      usage: [{ model: 'm', totalTokens: 5 }],
    })
  })

  it('[GW-Y2] The events of AG-UI change the state only with events that change the run', () => {
    const { types } = read([...START, token('La'), token(' la')])
    const before = read(START).types.filter((type) => type === 'STATE_DELTA').length
    expect(types.filter((type) => type === 'STATE_DELTA')).toHaveLength(before)
  })

  it('[GW-Y6] The events of AG-UI have the text of a model that does not stream', () => {
    expect(textsOf(read([...START, turn('La la'), ...completed('La la')]))).toEqual(['La la'])
  })

  it('[GW-Y7] The events of AG-UI take back the text of a failed model call, and of an output that was edited', () => {
    const failed = { type: 'llm_iteration_failed', ...TURN }
    const again = read([...START, token('La'), failed, token('Lu'), turn('Lu')])
    expect(again.sent.filter(({ type }) => type === 'MESSAGES_SNAPSHOT')).toEqual([
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
    ])
    const edited = read([...START, token('La'), turn('La'), ...completed('Lu')])
    expect(textsOf(edited)).toEqual(['La', 'Lu'])
    expect(edited.types).toContain('MESSAGES_SNAPSHOT')
  })

  it('[GW-Y5][PROTO-W1] The events of AG-UI end with one interrupt when every call of a turn has ended or waits', () => {
    const events = [...START, turn('', 'a', 'b', 'c'), asked('a'), called('c')]
    expect(read(events).run.isDone).toBe(false)
    const { run, sent } = read([...events, asked('b')])
    expect(run.isDone).toBe(true)
    expect(sent.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'interrupt', interrupts: [{ id: 'review-a' }, { id: 'review-b' }] },
    })
  })

  it('[GW-Y5][GW-Y8] The events of the next segment begin after the interrupt, with results of its calls', () => {
    const events = [...START, turn('', 'a'), asked('a'), decided('a'), called('a')]
    const { sent } = read(events, { answered: ['review-a'] })
    expect(sent.map(({ type }) => type).filter((type) => type !== 'STATE_DELTA')).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'STEP_STARTED',
      'TOOL_CALL_RESULT',
    ])
    expect(sent.at(-1)).toMatchObject({ toolCallId: 'run-1:1.1.0:a', content: 'result a' })
  })

  it('[GW-Y20] The events of AG-UI name waiting calls of client tools, without an interrupt', () => {
    const { run, sent } = read([...START, turn('', 'a'), asked('a', { kind: 'CLIENT_TOOL' })])
    expect(sent.at(-1)).toMatchObject({
      outcome: { type: 'success', pendingToolCallIds: ['run-1:1.1.0:a'] },
    })
    expect([...run.clientCalls]).toEqual([['run-1:1.1.0:a', 'review-a']])
  })

  it.each([
    ['CANCELLED', { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }],
    ['FAILED', { type: 'RUN_ERROR', code: 'BUDGET_EXCEEDED', message: 'Too much' }],
  ])('[GW-Y10] The events of AG-UI end a %s run with its outcome', (status, end) => {
    const result = { status, outputs: [], code: 'BUDGET_EXCEEDED', error: 'Too much' }
    const { sent } = read([...START, { type: 'run_result', ...result }])
    expect(sent.at(-1)).toMatchObject(end)
  })

  it('[GW-Y11] The events of AG-UI remove the messages of this segment from a conversation that joins late', () => {
    const messages = [
      { id: 'question', role: 'user', content: 'Sing' },
      { id: 'run-1:1.1.0', role: 'assistant', content: 'La' },
    ] as const
    const { sent } = read([...START, token('La')], { messages })
    expect(sent[1]).toEqual({ type: 'MESSAGES_SNAPSHOT', messages: [messages[0]] })
  })
})
