import { describe, expect, it } from 'vitest'

import { ChatStream } from './chat-stream.ts'

import type { ChatStreamOptions } from './chat-stream.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

let seq = 0

/** An event of the output task with only the fields that are read. */
const event = (type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent => {
  const place = { taskName: 'last', taskIndex: 2, attempt: 1, iterationIndex: 0 }
  seq += 1
  return { type, seq, ...place, ...fields } as LoggedRunEvent
}

const started = () =>
  event('ensemble_started', { tasks: [{ name: 'first' }, { name: 'last' }], outputTask: 'last' })
const turn = (fields: object = {}) => event('llm_iteration_started', fields)
const token = (text: string) => event('token', { token: text })
const called = (...ids: readonly string[]) =>
  event('llm_iteration_completed', {
    toolRequests: ids.map((id) => ({ id, name: 'tune', arguments: '{}' })),
    inputTokens: 1,
    outputTokens: 1,
  })
const asked = (id: string) =>
  event('review_requested', {
    reviewId: `review-${id}`,
    kind: 'TOOL_CALL',
    timing: 'DURING_EXECUTION',
    toolCallId: id,
    toolInput: {},
    taskDescription: 'Play',
  })
const decided = (id: string) =>
  event('review_decided', { reviewId: `review-${id}`, decision: 'CONTINUE' })
const answered = (id: string) =>
  event('tool_called', { toolCallId: id, outcome: 'SUCCESS', toolResult: `tuned ${id}` })

function streamOf(events: readonly LoggedRunEvent[], options: Partial<ChatStreamOptions> = {}) {
  const stream = new ChatStream('run-1', { pausesFrom: 0, ...options })
  const chunks = [...stream.start(), ...stream.after(events)]
  return { stream, chunks, types: chunks.map(({ type }) => type) }
}

const thought = (text: string) => event('reasoning', { text })
const done = (fields: object = {}) =>
  event('llm_iteration_completed', { inputTokens: 1, outputTokens: 9, ...fields })

describe('[GW-C14] the reasoning of a message', () => {
  const described = (chunks: ReturnType<typeof streamOf>['chunks']) =>
    chunks.flatMap((chunk) => {
      if ('delta' in chunk) return [`${chunk.id} ${chunk.delta}`]
      return chunk.type.startsWith('data-') || chunk.type === 'start' ? [] : [chunk.type]
    })

  it('The reasoning of a message is a part before the text', () => {
    const { chunks } = streamOf([
      started(),
      turn(),
      thought('Let me '),
      thought('see.'),
      token('Yes'),
      done({ reasoning: 'Let me see.', reasoningTokens: 7 }),
      event('task_completed', { output: 'Yes' }),
      event('run_result', {
        status: 'COMPLETED',
        outputs: [{ taskName: 'last', output: 'Yes' }],
        outputTask: 'last',
      }),
    ])
    expect(described(chunks)).toEqual([
      'start-step',
      'reasoning-start',
      'reasoning-1 Let me ',
      'reasoning-1 see.',
      'reasoning-end',
      'text-start',
      'text-1 Yes',
      'text-end',
      'finish',
    ])
    expect(chunks.at(-1)).toMatchObject({
      messageMetadata: { usage: { outputTokens: 9, reasoningTokens: 7, totalTokens: 10 } },
    })
  })

  it('The reasoning of a message is taken back when its turn begins again', () => {
    const { chunks } = streamOf([started(), turn(), thought('Half'), turn(), thought('Whole')])
    expect(described(chunks)).toEqual([
      'start-step',
      'reasoning-start',
      'reasoning-1 Half',
      'reset-step',
      'reasoning-start',
      'reasoning-2 Whole',
    ])
  })

  it('The reasoning of a message does not end a text that it interrupts', () => {
    const { chunks } = streamOf([started(), turn(), token('One '), thought('Hm'), token('two')])
    expect(described(chunks)).toEqual([
      'start-step',
      'text-start',
      'text-1 One ',
      'reasoning-start',
      'reasoning-1 Hm',
      'reasoning-end',
      'text-1 two',
    ])
  })

  it('The reasoning of a message ends with a turn without text, and with a cancelled run', () => {
    const called = streamOf([started(), turn(), thought('Hm'), done()])
    expect(called.types.at(-1)).toBe('reasoning-end')
    const end = event('run_result', { status: 'CANCELLED', outputs: [] })
    const cancelled = streamOf([started(), turn(), thought('Hm'), end])
    expect(cancelled.types.slice(-3)).toEqual(['reasoning-end', 'abort', 'finish'])
  })

  it('The reasoning of another task is not part of the message', () => {
    const other = event('reasoning', { taskName: 'first', text: 'Hm' })
    expect(streamOf([started(), turn(), other]).types).not.toContain('reasoning-start')
  })
})

describe('a stream of a message', () => {
  it('[GW-C2] A stream of a message takes back a turn that begins again, and sends the parts of other tasks again', () => {
    const first = { taskName: 'first', taskIndex: 1 }
    const { chunks } = streamOf([
      event('ensemble_started', { tasks: [{ name: 'last' }], outputTask: 'last' }),
      turn(),
      token('La'),
      event('task_completed', { ...first, output: 'Plan' }),
      event('run_resumed', { outputTask: 'last' }),
      turn(),
      token('Lu'),
    ])
    expect(chunks.slice(3).map((chunk) => ('delta' in chunk ? chunk.delta : chunk.type))).toEqual([
      'text-start',
      'La',
      'data-task',
      'reset-step',
      'data-task',
      'data-task',
      'text-start',
      'Lu',
    ])
  })

  it('[GW-C6][PROTO-W1] A stream of a message pauses when every call of a turn has ended or waits', () => {
    const events = [started(), turn(), called('a', 'b'), asked('a')]
    expect(streamOf(events).stream.isDone).toBe(false)
    const { stream, chunks } = streamOf([...events, answered('b')])
    expect(stream.isDone).toBe(true)
    expect(chunks.at(-1)).toMatchObject({
      type: 'finish',
      finishReason: 'tool-calls',
      messageMetadata: { seq: expect.any(Number), usage: { totalTokens: 2 } },
    })
  })

  it.each(['with its position', 'without its position'])(
    '[GW-C1][GW-C6] A stream of a message continues after the pause that the client answered, %s',
    (how) => {
      const paused = [started(), turn(), called('a', 'b'), asked('a'), asked('b')]
      const seqOfPause = paused.at(-1)?.seq
      const known = {
        seq: how.startsWith('without') ? undefined : seqOfPause,
        answered: ['review-a'],
      }
      const events = [...paused, decided('a'), answered('a')]
      const pausesFrom = events.at(-2)?.seq ?? 0
      const { types, stream } = streamOf(events, { known, pausesFrom })
      // The open review follows in its own step.
      expect(types).toEqual([
        'start',
        'start-step',
        'tool-input-available',
        'tool-approval-request',
        'tool-output-available',
        'finish',
      ])
      expect(stream.isDone).toBe(true)
    },
  )

  it('[GW-C7] A stream of a message sends an output that differs from the text', () => {
    const output = (text: string) => event('task_completed', { output: text })
    const same = streamOf([started(), turn(), token('La'), output('La')])
    const edited = streamOf([started(), turn(), token('La'), output('Lu')])
    const textsIn = ({ chunks }: ReturnType<typeof streamOf>) =>
      chunks.flatMap((chunk) => ('delta' in chunk ? [chunk.delta] : []))
    expect([textsIn(same), textsIn(edited)]).toEqual([['La'], ['La', 'Lu']])
  })
})
