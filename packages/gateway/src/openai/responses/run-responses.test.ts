import { expect, it } from 'vitest'

import { RunResponses } from './run-responses.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { NumberedEvent } from './run-responses.ts'

const AT = '2026-01-01T00:00:00.000Z'
const TASK = { taskName: 'answer', taskIndex: 1, attempt: 1, agentRole: 'Agent' }
const TURN = { ...TASK, taskDescription: 'Answer', iterationIndex: 0, model: 'm' }

/** Events of a run, without what the fold does not read. */
function toEvents(events: readonly object[]): readonly LoggedRunEvent[] {
  // NOTE: the fold reads no other fields of these events.
  return events.map((event, seq) => ({
    runId: 'run-1',
    seq,
    id: `run-1:${seq}`,
    ...event,
  })) as never
}

const START = [
  { type: 'run_queued', queuedAt: AT },
  { type: 'ensemble_started', tasks: [{ name: 'answer' }], outputTask: 'answer' },
  { type: 'task_started', ...TASK },
]

function token(text: string) {
  return { type: 'token', ...TURN, token: text, sentAt: AT }
}

function turn(text: string, toolRequests?: readonly object[]) {
  const tokens = { inputTokens: 10, outputTokens: 2 }
  const calls = toolRequests === undefined ? {} : { toolRequests }
  return { type: 'llm_iteration_completed', ...TURN, ...tokens, responseText: text, ...calls }
}

function end(output: string) {
  return [
    { type: 'task_completed', ...TASK, output },
    { type: 'ensemble_completed', completedAt: AT },
    {
      type: 'run_result',
      status: 'COMPLETED',
      outputTask: 'answer',
      outputs: [{ taskName: 'answer', output }],
    },
  ]
}

function fold(events: readonly object[]) {
  const options = { runId: 'run-1', createdAt: Date.parse(AT), background: false }
  const responses = new RunResponses({ ...options, isStructured: false })
  const made = toEvents(events).flatMap((event): readonly NumberedEvent[] => responses.after(event))
  return { responses, made }
}

/** Returns the texts of the messages that a response has at its end. */
function textsOf({ responses }: ReturnType<typeof fold>, segment = 0): readonly string[] {
  return responses
    .stateOf(segment)
    .output.flatMap((item) =>
      item.type === 'message'
        ? item.content.map((part) => (part.type === 'output_text' ? part.text : part.refusal))
        : [],
    )
}

function deltasOf({ made }: ReturnType<typeof fold>): readonly string[] {
  return made.flatMap(({ event }) =>
    event.type === 'response.output_text.delta' ? [event.delta] : [],
  )
}

const started = { type: 'llm_iteration_started', ...TURN }
const failed = { type: 'llm_iteration_failed', ...TURN }

const thought = (text: string) => ({ type: 'reasoning', ...TURN, text, sentAt: AT })

/** Returns the reasoning that a response has at its end, each with its status. */
function reasoningOf({ responses }: ReturnType<typeof fold>): readonly (readonly string[])[] {
  return responses
    .stateOf(0)
    .output.flatMap((item) =>
      item.type === 'reasoning' ? [[item.status, ...item.summary.map(({ text }) => text)]] : [],
    )
}

it('[GW-N19] A Responses stream sends reasoning as an item with a summary before the message', () => {
  const folded = fold([
    ...START,
    started,
    thought('Let me '),
    thought('see.'),
    token('Yes'),
    { ...turn('Yes'), reasoning: 'Let me see.', reasoningTokens: 2 },
    ...end('Yes'),
  ])
  const about = folded.made.flatMap(({ event }) =>
    'summary_index' in event || 'item' in event ? [event] : [],
  )
  const index = { item_id: 'rs_run-1_0_0', output_index: 0, summary_index: 0 }
  const item = { type: 'reasoning', id: 'rs_run-1_0_0' }
  const part = { type: 'summary_text', text: 'Let me see.' }
  const done = { ...item, status: 'completed', summary: [part] }
  expect(about.slice(0, 7)).toEqual([
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', summary: [] },
    },
    { type: 'response.reasoning_summary_part.added', ...index, part: { ...part, text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...index, delta: 'Let me ' },
    { type: 'response.reasoning_summary_text.delta', ...index, delta: 'see.' },
    { type: 'response.reasoning_summary_text.done', ...index, text: part.text },
    { type: 'response.reasoning_summary_part.done', ...index, part },
    { type: 'response.output_item.done', output_index: 0, item: done },
  ])
  const { output, usage } = folded.responses.stateOf(0)
  expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
  expect(output[0]).toEqual(done)
  expect(usage?.output_tokens_details).toEqual({ reasoning_tokens: 2 })
})

it('[GW-N19] A Responses stream has no reasoning of a turn that begins again, nor of a failed attempt', () => {
  const half = [started, thought('Half'), token('Ye')]
  const again = [failed, started, thought('Whole'), token('Yes'), turn('Yes')]
  const restarted = fold([...START, ...half, ...again, ...end('Yes')])
  expect(reasoningOf(restarted)).toEqual([['completed', 'Whole']])
  const attempt = { type: 'task_attempt_failed', ...TASK, code: 'TASK_FAILED', willRetry: true }
  const retried = [started, thought('Second'), turn('No')].map((event) => ({
    ...event,
    attempt: 2,
  }))
  const repeated = fold([...START, ...half, turn('Yes'), attempt, ...retried, ...end('No')])
  expect(reasoningOf(repeated)).toEqual([['completed', 'Second']])
})

it('[GW-N19] A Responses stream has the reasoning of a cancelled run as incomplete', () => {
  const cancelled = { type: 'run_result', status: 'CANCELLED', outputs: [] }
  const folded = fold([...START, started, thought('Half'), cancelled])
  expect(reasoningOf(folded)).toEqual([['incomplete', 'Half']])
})

it('[GW-N19] A Responses stream has the reasoning that is being written', () => {
  expect(reasoningOf(fold([...START, started, thought('Half')]))).toEqual([['in_progress', 'Half']])
})

it('[GW-N3] A Responses stream sends the rest of a text that begins again as before', () => {
  const folded = fold([
    ...START,
    started,
    token('Hello '),
    failed,
    started,
    token('Hel'),
    token('lo you'),
    turn('Hello you'),
    ...end('Hello you'),
  ])
  expect(deltasOf(folded)).toEqual(['Hello ', 'you'])
  expect(textsOf(folded)).toEqual(['Hello you'])
})

it('[GW-N3] A Responses stream sends a text that begins again differently as another message', () => {
  const folded = fold([
    ...START,
    started,
    token('Hello '),
    { type: 'run_resumed', outputTask: 'answer' },
    started,
    token('Good'),
    turn('Good day'),
    ...end('Good day'),
  ])
  expect(deltasOf(folded)).toEqual(['Hello ', 'Good day'])
  expect(textsOf(folded)).toEqual(['Good day'])
  const done = folded.made.flatMap(({ event }) =>
    event.type === 'response.output_item.done' && event.item.type === 'message'
      ? [event.item.status]
      : [],
  )
  expect(done).toEqual(['incomplete', 'completed'])
})

it('[GW-N4] A Responses stream sends the output where it differs from the text', () => {
  const folded = fold([...START, started, turn('Draft'), ...end('Edited')])
  expect(textsOf(folded)).toEqual(['Edited'])
})

it('[GW-N1] A Responses stream ends a response where the run waits, and begins the next one after the last decision', () => {
  const calls = ['a', 'b'].map((id) => ({ id, name: 'look', arguments: '{}' }))
  const reviews = calls.map(({ id }) => ({
    type: 'review_requested',
    ...TASK,
    reviewId: `review-${id}`,
    kind: 'CLIENT_TOOL',
    timing: 'DURING_EXECUTION',
    taskDescription: 'Call',
    toolName: 'look',
    toolCallId: id,
    toolInput: {},
    requestedAt: AT,
  }))
  const ends = calls.flatMap(({ id }) => [
    {
      type: 'review_decided',
      reviewId: `review-${id}`,
      decision: 'EDIT',
      revisedOutput: '"x"',
      decidedAt: AT,
    },
    { type: 'tool_called', ...TURN, toolCallId: id },
  ])
  const events = [...START, started, turn('', calls), ...reviews]
  const waiting = fold(events)
  expect(waiting.responses.isDone(0)).toBe(true)
  expect(waiting.responses.newest).toBe(0)
  const half = fold([...events, ...ends.slice(0, 2)])
  expect(half.responses.newest).toBe(0)
  expect(half.made).toEqual(waiting.made)
  const again = { ...started, iterationIndex: 1 }
  const answer = { ...turn('Done'), iterationIndex: 1 }
  const whole = fold([...events, ...ends, again, answer, ...end('Done')])
  expect(textsOf(whole, 1)).toEqual(['Done'])
  expect(whole.responses.stateOf(0).usage).toMatchObject({ input_tokens: 10 })
  expect(whole.responses.stateOf(1).usage).toMatchObject({ input_tokens: 10, total_tokens: 12 })
  const next = whole.made.filter(({ segment }) => segment === 1)
  expect(next.map(({ sequence }) => sequence)).toEqual(next.map((_, index) => index))
  expect(next.at(-1)?.event.type).toBe('response.completed')
})

it('[GW-N6] A Responses stream ends as incomplete when the output task accepts an answer that was cut', () => {
  const [completed, ...rest] = end('Half of')
  const cut = { ...completed, finishReason: 'length' }
  const { responses } = fold([...START, token('Half of'), turn('Half of'), cut, ...rest])
  expect(responses.stateOf(0)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  })
})
