import { describe, expect, it } from 'vitest'

import { TaskUpdates } from './events.ts'
import { TaskView } from './view.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const IDENTITY = {
  id: 'run-1',
  contextId: 'c',
  asked: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Ode' }] },
} as const

/** An event with only the fields that are read. */
const event = (type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent =>
  ({ type, seq: 0, taskName: 'last', ...fields }) as LoggedRunEvent

const started = event('ensemble_started', {
  startedAt: '2026-01-01T00:00:00Z',
  tasks: [{ name: 'first' }, { name: 'last' }],
  outputTask: 'last',
})
const turn = event('llm_iteration_started')
const token = (text: string, fields: object = {}) => event('token', { token: text, ...fields })
const done = (output: string, fields: object = {}) => event('task_completed', { output, ...fields })

/** Returns the updates that a reader receives: an artifact as its text and how to apply it, a status as its state. */
function updatesOf(...events: readonly LoggedRunEvent[]) {
  const showing = { modes: [], usage: false }
  const updates = new TaskUpdates(IDENTITY, new TaskView({ createdAt: 0 }), showing)
  return [started, ...events]
    .flatMap((one) => [...updates.after(one)])
    .slice(1)
    .map((item) => {
      if ('artifactUpdate' in item) {
        const { artifact, append, lastChunk } = item.artifactUpdate
        const end = lastChunk ? '.' : ''
        return `${append ? '+' : '='}${artifact.artifactId} ${artifact.parts[0]?.text}${end}`
      }
      if (!('statusUpdate' in item)) return 'task'
      const { state, message } = item.statusUpdate.status
      const said = state === 'TASK_STATE_WORKING' ? message?.parts[0]?.text : undefined
      return said === undefined ? state : `${state}: ${said}`
    })
}

describe('TaskUpdates', () => {
  it('[GW-U2] [GW-U3] TaskUpdates streams the text of the last task as it is written, and closes it', () => {
    const events = [event('task_started'), turn, token('La'), token(' la'), done('La la')]
    expect(updatesOf(...events)).toEqual(['=last La', '+last  la', '+last .'])
  })

  it.each<[string, LoggedRunEvent]>([
    ['another turn', turn],
    ['another attempt', event('task_started')],
    ['another process', event('run_resumed', { outputTask: 'last' })],
  ])('[GW-U2] TaskUpdates restarts the text with %s', (_title, anew) => {
    const events = [turn, token('La'), token('!'), anew, token('Lu'), token(' lu'), done('Lu lu')]
    expect(updatesOf(...events)).toEqual([
      '=last La',
      '+last !',
      '=last Lu',
      '+last  lu',
      '+last .',
    ])
  })

  const handOff = (taskName: string, workerTask: string) =>
    event('delegation_started', {
      taskName,
      workerTask,
      delegationId: workerTask,
      workerRole: 'Next',
      attempt: 1,
      handoff: true,
    })

  it('[GW-U2] [GW-U4] [GW-V2] The answer after a handoff is sent once, as the output of the task that was handed off', () => {
    const by = { taskName: 'last/B' }
    const answered = [event('llm_iteration_started', by), token('La', by), done('La', by)]
    const handed = [turn, token('Wait'), handOff('last', 'last/B'), ...answered]
    const updates = ['=last Wait', 'TASK_STATE_WORKING: Handed off to Next', '=last La']
    expect(updatesOf(...handed, done('La'))).toEqual([...updates, '+last .'])
    expect(updatesOf(...handed, event('run_result', { status: 'FAILED', outputs: [] }))).toEqual([
      ...updates,
      'TASK_STATE_FAILED',
    ])
  })

  it('[GW-U2] TaskUpdates that begins after handoffs streams the text of the agent that has the conversation', () => {
    const view = new TaskView({ createdAt: 0 })
    for (const one of [started, handOff('last', 'last/B'), handOff('last/B', 'last/C')]) {
      view.take(one)
    }
    const updates = new TaskUpdates(IDENTITY, view, { modes: [], usage: false })
    const by = { taskName: 'last/C' }
    const written = [event('llm_iteration_started', by), token('La', by)]
    expect(written.flatMap((one) => [...updates.after(one)])).toMatchObject([
      { artifactUpdate: { artifact: { artifactId: 'last', parts: [{ text: 'La' }] } } },
    ])
  })

  it('[GW-U2] TaskUpdates does not restart the text while another task works', () => {
    const other = { taskName: 'first' }
    const turns = [event('task_started', other), event('llm_iteration_started', other)]
    const events = [turn, token('La'), ...turns, token('Mm', other), token(' la'), done('La la')]
    expect(updatesOf(...events)).toEqual(['=last La', '+last  la', '+last .'])
  })

  it('[GW-U3] TaskUpdates sends the output again if it differs from the streamed text', () => {
    expect(updatesOf(turn, token('La'), done('Edited'))).toEqual(['=last La', '=last Edited.'])
    expect(updatesOf(turn, token('La'), turn, done('La'))).toEqual(['=last La', '=last La.'])
  })

  it('[GW-U4] TaskUpdates reports the outputs of other tasks in a status, and as artifacts if there is no other output', () => {
    const first = done('Mm', { taskName: 'first' })
    const end = (status: string) => event('run_result', { status, outputs: [] })
    expect(updatesOf(first)).toEqual(['TASK_STATE_WORKING: Mm'])
    expect(updatesOf(first, end('FAILED'))).toEqual([
      'TASK_STATE_WORKING: Mm',
      '=first Mm.',
      'TASK_STATE_FAILED',
    ])
    expect(updatesOf(first, done('La'), end('COMPLETED'))).toEqual([
      'TASK_STATE_WORKING: Mm',
      '=last La.',
      'TASK_STATE_COMPLETED',
    ])
  })

  it('[GW-U4] [GW-GP1] TaskUpdates reports counts of many added tasks instead of their outputs', () => {
    const added = Array.from({ length: 1_000 }, (_, at) => {
      const [workerTask, delegationId] = [`first/${at}`, `d-${at}`]
      const worker = { taskName: 'first', workerTask, delegationId, workerTaskIndex: at + 3 }
      return [event('delegation_started', worker), done('Mm', { taskName: workerTask })]
    })
    const updates = updatesOf(...added.flat())
    expect(updates.length).toBeLessThan(80)
    expect(updates.slice(0, 20)).toEqual(Array(20).fill('TASK_STATE_WORKING: Mm'))
    expect(updates[20]).toBe('TASK_STATE_WORKING: "first": 22 of 22 tasks completed')
  })

  it('[GW-U4] [GW-GP1] TaskUpdates reports the usage of counted tasks with their counts', () => {
    const updates = new TaskUpdates(IDENTITY, new TaskView({ createdAt: 0 }), {
      modes: [],
      usage: true,
    })
    const added = Array.from({ length: 1_000 }, (_, at) => {
      const [workerTask, delegationId] = [`first/${at}`, `d-${at}`]
      const worker = { taskName: 'first', workerTask, delegationId, workerTaskIndex: at + 3 }
      const call = { taskName: workerTask, model: 'm', inputTokens: 2, outputTokens: 1 }
      return [
        event('delegation_started', worker),
        event('llm_iteration_completed', call),
        done('Mm', { taskName: workerTask }),
      ]
    })
    const end = event('run_result', { status: 'FAILED', outputs: [] })
    const items = [started, ...added.flat(), end].flatMap((one) => [...updates.after(one)])
    expect(items.length).toBeLessThan(130)
    expect(JSON.stringify(items.at(-1))).toContain('"total_tokens":3000')
  })

  it('[GW-U1] TaskUpdates reports a requested cancel while the task still works', () => {
    const cancelling = event('run_cancelling', { requestedAt: '2026-01-01T00:00:01Z' })
    expect(updatesOf(cancelling)).toEqual(['TASK_STATE_WORKING'])
  })

  it('[GW-U1] TaskUpdates reports the next question when one of two is answered', () => {
    const review = (reviewId: string) =>
      event('review_requested', {
        reviewId,
        requestedAt: '2026-01-01T00:00:01Z',
        kind: 'TASK_OUTPUT',
        timing: 'AFTER_EXECUTION',
        prompt: 'Well?',
        taskOutput: '',
      })
    const decided = event('review_decided', {
      reviewId: 'a',
      decision: 'CONTINUE',
      decidedAt: '2026-01-01T00:00:02Z',
    })
    expect(updatesOf(review('a'), review('b'))).toEqual(['TASK_STATE_INPUT_REQUIRED'])
    expect(updatesOf(review('a'), review('b'), decided)).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_INPUT_REQUIRED',
    ])
  })
})
