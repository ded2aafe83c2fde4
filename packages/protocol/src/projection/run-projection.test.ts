import { describe, expect, it } from 'vitest'

import { RunProjection } from './run-projection.ts'

import type { RunEvent } from '../schemas/run-event.ts'
import type { OutputBlock, RunOperation } from './operations.ts'

const TURN = { taskName: 'answer', taskIndex: 1, attempt: 1, iterationIndex: 0, agentRole: 'Agent' }

/** An event of the output task with only the fields that are read. */
const event = (type: RunEvent['type'], fields: object = {}): RunEvent =>
  ({ type, ...TURN, ...fields }) as RunEvent

const started = event('ensemble_started', {
  tasks: [
    { name: 'draft', agentRole: 'Writer' },
    { name: 'answer', agentRole: 'Agent' },
  ],
  outputTask: 'answer',
})
const turn = (fields: object = {}) => event('llm_iteration_started', fields)
const token = (text: string, fields: object = {}) => event('token', { token: text, ...fields })
const thought = (text: string) => event('reasoning', { text })
const answered = (responseText: string, fields: object = {}) =>
  event('llm_iteration_completed', { responseText, model: 'm', ...fields })
const calls = (...ids: readonly string[]) => ({
  toolRequests: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
})
const done = (output: string, fields: object = {}) => event('task_completed', { output, ...fields })
const failed = event('llm_iteration_failed', { reason: 'No' })
const rejected = event('task_attempt_failed', { reason: 'No', code: 'REVIEW_REJECTED' })
const again = { attempt: 2 }
const next = { iterationIndex: 1 }

/** Returns the operations on blocks, in short: `+id` opens, `id text` grows, `.id` closes, `-id id` withdraws. */
function blocksOf(...events: readonly RunEvent[]): readonly string[] {
  const run = new RunProjection()
  return [started, ...events].flatMap((one) => run.take(one).flatMap(describeBlocks))
}

function describeBlocks(operation: RunOperation): readonly string[] {
  switch (operation.type) {
    case 'turn_started':
      return operation.isRestart ? ['again'] : []
    case 'block_opened':
      return [`+${operation.block.id}`]
    case 'block_grown':
      return [`${operation.block.id} ${operation.delta}`]
    case 'block_closed':
      return [`.${operation.block.id}`]
    case 'withdrawn':
      return [`-${operation.blocks.map(({ id }) => id).join(' ')}`]
    case 'output':
      return [`= ${operation.text}`]
    default:
      return []
  }
}

describe('the text of a projection', () => {
  it('[PROTO-T1] The text of a projection has a block for the reasoning and one for the text of a turn', () => {
    const events = [turn(), thought('Hm'), token('La '), token('la'), answered('La la')]
    expect(blocksOf(...events, done('La la'))).toEqual([
      '+1.1.0:reasoning',
      '1.1.0:reasoning Hm',
      '.1.1.0:reasoning',
      '+1.1.0',
      '1.1.0 La ',
      '1.1.0 la',
      '.1.1.0',
      '= La la',
    ])
  })

  it('[PROTO-T1] The text of a projection has the whole text of a model that does not stream, and the missing end of others', () => {
    expect(blocksOf(turn(), answered('La', { reasoning: 'Hm' }))).toEqual([
      '+1.1.0:reasoning',
      '1.1.0:reasoning Hm',
      '.1.1.0:reasoning',
      '+1.1.0',
      '1.1.0 La',
      '.1.1.0',
    ])
    expect(blocksOf(turn(), token('La'), answered('La la')).slice(2)).toEqual([
      '1.1.0  la',
      '.1.1.0',
    ])
  })

  it('[PROTO-T2] The text of a projection withdraws streamed text that is not the text of the answer', () => {
    expect(blocksOf(turn(), token('secret'), answered('******'))).toEqual([
      '+1.1.0',
      '1.1.0 secret',
      '-1.1.0',
      '+1.1.0.1',
      '1.1.0.1 ******',
      '.1.1.0.1',
    ])
  })

  it.each<[string, readonly RunEvent[]]>([
    ['its call fails', [failed]],
    ['its process is lost', [event('run_resumed', { outputTask: 'answer' })]],
    ['it begins again', []],
    ['its task begins again', [event('task_started')]],
  ])(
    '[PROTO-T2] The text of a projection withdraws the blocks of a turn when %s',
    (_title, events) => {
      const begun = [turn(), thought('Hm'), token('La')]
      expect(blocksOf(...begun, ...events, turn(), token('Lu')).slice(5)).toEqual([
        '-1.1.0:reasoning 1.1.0',
        'again',
        '+1.1.0.1',
        '1.1.0.1 Lu',
      ])
    },
  )

  it('[PROTO-T3] The text of a projection withdraws an answer whose attempt fails', () => {
    const events = [turn(), answered('No'), rejected, turn(again), answered('Yes', again)]
    expect(blocksOf(...events, done('Yes', again)).slice(2)).toEqual([
      '.1.1.0',
      '-1.1.0',
      '+1.2.0.1',
      '1.2.0.1 Yes',
      '.1.2.0.1',
      '= Yes',
    ])
  })

  it('[PROTO-T3] The text of a projection withdraws an answer when the model answers again, but not the text before a tool call', () => {
    const [first, second] = [turn(), answered('No')]
    const repeated = blocksOf(first, second, turn(next), answered('Yes', next))
    expect(repeated).toContain('-1.1.0')
    const called = blocksOf(first, answered('Wait', calls('a')), turn(next), answered('Yes', next))
    expect(called.join()).not.toContain('-')
  })

  it('[PROTO-T3] The text of a projection continues a cut answer, and withdraws only the turn that continues it', () => {
    const cut = [turn(), answered('Half', { finishReason: 'length' }), turn(next)]
    const run = new RunProjection()
    const half = [token(' of', next), event('llm_iteration_failed', next), turn(next)]
    const operations = [started, ...cut, ...half, answered(' all', next), done('Half all')].flatMap(
      (one) => run.take(one),
    )
    const opened = operations.filter(({ type }) => type === 'block_opened')
    expect(opened).toMatchObject([
      { block: { before: '' } },
      { block: { before: 'Half' } },
      { block: { before: 'Half' } },
    ])
    expect(operations.filter(({ type }) => type === 'withdrawn')).toMatchObject([
      { blocks: [{ before: 'Half' }], of: 'turn' },
    ])
    expect(run.text).toBe('Half all')
  })

  it('[PROTO-T3] [PROTO-T4] The text of a projection replaces the answer with an output that differs', () => {
    expect(blocksOf(turn(), answered('La'), done('Lu')).slice(3)).toEqual([
      '-1.1.0',
      '+output.1',
      'output.1 Lu',
      '.output.1',
      '= Lu',
    ])
    expect(blocksOf(done('Made by a handler'))).toEqual([
      '+output',
      'output Made by a handler',
      '.output',
      '= Made by a handler',
    ])
  })

  it('[PROTO-T4] The text of a projection has the output of a run that a reviewer ended before its output task', () => {
    const outputs = [{ taskName: 'draft', output: 'Draft' }]
    const end = event('run_result', { status: 'COMPLETED', outputs, outputTask: 'draft' })
    expect(blocksOf(done('Draft', { taskName: 'draft' }), end)).toEqual([
      '+output',
      'output Draft',
      '.output',
      '= Draft',
    ])
  })

  it('The text of a projection forgets the text of a task that is no longer the output task', () => {
    const resumed = event('run_resumed', { outputTask: 'edit', addedTasks: [] })
    const edit = { taskName: 'edit', taskIndex: 2 }
    const events = [turn(), answered('La'), resumed, turn(edit), answered('Lu', edit)]
    expect(blocksOf(...events, done('Lu', edit)).slice(3)).toEqual([
      '-1.1.0',
      '+2.1.0.1',
      '2.1.0.1 Lu',
      '.2.1.0.1',
      '= Lu',
    ])
  })

  it('The text of a projection is readable from the middle of a log', () => {
    const run = new RunProjection({ outputTask: 'answer' })
    run.take(token('la'))
    expect(run.text).toBe('la')
    run.take(answered('La la'))
    expect(run.text).toBe('La la')
    const withdrawn: readonly OutputBlock[] = run
      .take(failed)
      .flatMap((one) => (one.type === 'withdrawn' ? one.blocks : []))
    expect(withdrawn).toEqual([])
  })
})

describe('the calls and reviews of a projection', () => {
  const asked = event('review_requested', { reviewId: 'r', kind: 'TOOL_CALL', toolCallId: 'a' })
  const decided = event('review_decided', { reviewId: 'r', decision: 'CONTINUE' })

  it('The calls and reviews of a projection have ids that are unique in the run, and reviews have the id of their call', () => {
    const run = new RunProjection()
    const events = [started, turn(), answered('', calls('a')), turn(next)]
    const more = [answered('', { ...next, ...calls('a') }), asked]
    const operations = [...events, ...more].flatMap((one) => run.take(one))
    expect(operations.filter(({ type }) => type === 'call_requested')).toMatchObject([
      { callId: '1.1.0:a', turnId: '1.1.0' },
      { callId: '1.1.1:a', turnId: '1.1.1' },
    ])
    expect(run.reviews).toMatchObject([{ reviewId: 'r', callId: '1.1.1:a' }])
    expect(run.take(decided)).toMatchObject([{ type: 'review_closed', event: decided }])
    expect(run.take(decided)).toEqual([])
    const ended = event('tool_called', { ...next, toolCallId: 'a' })
    expect(run.take(ended)).toMatchObject([{ type: 'call_ended', callId: '1.1.1:a' }])
    expect(run.take(ended)).toEqual([])
  })

  it('[PROTO-W1] The calls and reviews of a projection wait when every call of a turn has ended or waits', () => {
    const run = new RunProjection()
    for (const one of [started, turn(), answered('', calls('a', 'b')), asked]) run.take(one)
    expect(run.isWaiting).toBe(false)
    run.take(event('tool_called', { toolCallId: 'b' }))
    expect(run.isWaiting).toBe(true)
  })

  it('[PROTO-W1] The calls and reviews of a projection wait when each task that a handler has added waits', () => {
    const run = new RunProjection()
    const isWaitingAfter = (one: RunEvent): boolean => {
      run.take(one)
      return run.isWaiting
    }
    const worker = (at: number) => ({ workerTask: `answer/${at}`, delegationId: `d-${at}` })
    const askedBy = (at: number) =>
      event('review_requested', {
        taskName: `answer/${at}`,
        reviewId: `r-${at}`,
        kind: 'QUESTION',
      })
    const log = [
      started,
      event('task_started'),
      event('delegation_started', worker(0)),
      event('delegation_started', worker(1)),
      event('task_started', { taskName: 'answer/0' }),
      askedBy(0),
      event('task_started', { taskName: 'answer/1' }),
      askedBy(1),
      event('review_decided', { reviewId: 'r-0', decision: 'CONTINUE' }),
      event('task_completed', { taskName: 'answer/0' }),
      event('delegation_completed', worker(0)),
    ]
    const waits = [...Array(7).fill(false), true, false, true, true]
    expect(log.map(isWaitingAfter)).toEqual(waits)
  })

  it('[PROTO-W1] The calls and reviews of a projection wait with the status of their most urgent review', () => {
    const run = new RunProjection()
    const statusAfter = (one: RunEvent) => {
      run.take(one)
      return [run.waitingStatus, run.isWaiting]
    }
    const wait = event('review_requested', { reviewId: 'wait', kind: 'EVENT' })
    const question = event('review_requested', { reviewId: 'question', kind: 'QUESTION' })
    const log = [
      started,
      event('task_started'),
      wait,
      question,
      event('review_decided', { reviewId: 'question', decision: 'CONTINUE' }),
      event('run_cancelling'),
    ]
    expect(log.map(statusAfter)).toEqual([
      [undefined, false],
      [undefined, false],
      ['WAITING', false],
      ['WAITING_REVIEW', true],
      ['WAITING', false],
      [undefined, false],
    ])
  })

  it('[PROTO-W2] The calls and reviews of a projection wait at the same events for a reader that joins late', () => {
    const log = [started, turn(), answered('', calls('a')), asked, decided]
    const waits = log.map((_, index) => {
      const late = new RunProjection()
      for (const one of log.slice(0, index + 1)) late.take(one)
      return late.isWaiting
    })
    const live = new RunProjection()
    const waitsLive = log.map((one) => {
      live.take(one)
      return live.isWaiting
    })
    expect(waits).toEqual(waitsLive)
    expect(waits).toEqual([false, false, false, true, false])
  })
})

describe('[PROTO-T6] the end of a projection', () => {
  const endOf = (fields: object, ...events: readonly RunEvent[]) => {
    const run = new RunProjection()
    const result = event('run_result', { outputs: [], ...fields })
    const operations = [started, ...events, result].flatMap((one) => run.take(one))
    return operations.filter(({ type }) => type === 'ended')
  }
  const outputs = [{ taskName: 'answer', output: 'La' }]
  const completed = { status: 'COMPLETED', outputs, outputTask: 'answer' }

  it.each<[string, object, object, readonly RunEvent[]]>([
    ['a completed run', completed, { reason: 'stop', output: 'La', error: '', code: '' }, []],
    [
      'an accepted cut answer',
      completed,
      { reason: 'length', output: 'La' },
      [done('La', { finishReason: 'length' })],
    ],
    ['a cancelled run', { status: 'CANCELLED', outputs }, { reason: 'cancelled', error: '' }, []],
    [
      'a refusal',
      { status: 'FAILED', code: 'MODEL_REFUSED', error: 'It refused' },
      { reason: 'refusal', refusal: 'I cannot', error: 'It refused' },
      [event('task_failed', { refusal: 'I cannot', reason: 'It refused' })],
    ],
    [
      'a refusal without an explanation',
      { status: 'FAILED', code: 'MODEL_REFUSED', error: 'It refused' },
      { reason: 'refusal', refusal: 'It refused' },
      [],
    ],
    [
      'a filtered answer',
      { status: 'FAILED', code: 'CONTENT_FILTERED', error: 'No' },
      { reason: 'content_filter', refusal: '' },
      [],
    ],
    [
      'a truncated answer',
      { status: 'FAILED', code: 'OUTPUT_TRUNCATED', error: 'No' },
      { reason: 'length' },
      [],
    ],
    [
      'a failure with the name of an object property as its code',
      { status: 'FAILED', code: 'toString', error: 'No' },
      { reason: 'failed', code: 'toString', error: 'No' },
      [],
    ],
    [
      'a failure without a code',
      { status: 'FAILED' },
      { reason: 'failed', code: 'TASK_FAILED', error: 'The run failed' },
      [],
    ],
  ])('The end of a projection is that of %s', (_title, fields, expected, events) => {
    expect(endOf(fields, ...events)).toMatchObject([expected])
  })
})

describe('the text after a handoff', () => {
  const received = { taskName: 'answer/Billing', taskIndex: 2 }
  const handedOff = (fields: object = {}) =>
    event('delegation_started', { workerTask: 'answer/Billing', ...fields })
  const events = [
    turn(),
    answered('One moment', calls('c')),
    handedOff({ handoff: true }),
    turn(received),
    token('Pa', received),
    token('id', received),
    answered('Paid', received),
    done('Paid', received),
    done('Paid'),
  ]

  it('[PROTO-T7] The text of the next agent is the answer, and is not repeated', () => {
    expect(blocksOf(...events)).toEqual([
      '+1.1.0',
      '1.1.0 One moment',
      '.1.1.0',
      '+2.1.0',
      '2.1.0 Pa',
      '2.1.0 id',
      '.2.1.0',
      '= Paid',
    ])
  })

  it('[PROTO-T7] The text of a delegated task is not text of the output task', () => {
    const blocks = blocksOf(handedOff(), turn(received), token('Pa', received))
    expect(blocks).toEqual([])
  })

  it('[PROTO-T7] [PROTO-T3] A rejected answer of the next agent is withdrawn', () => {
    expect(blocksOf(...events.slice(0, -1), rejected).at(-1)).toBe('-2.1.0')
  })
})
