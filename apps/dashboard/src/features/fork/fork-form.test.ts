import { describe, expect, it } from 'vitest'

import {
  buildForkBody,
  createForkForm,
  findForkEdits,
  findForkPrompt,
  findSeqBeforeTurn,
  type ForkOrigin,
} from './fork-form.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const origin: ForkOrigin = {
  start: { taskName: 'write', turn: { attempt: 1, iterationIndex: 1 } },
  prompt: { text: 'Write about {topic}', isTemplate: true },
  inputs: { topic: 'tides', tone: 'dry' },
  beforeTurn: 14,
}

const form = createForkForm(origin)

it('The edits of a fork are the changed fields; a removed field is empty', () => {
  expect(findForkEdits(form, { ...form, directive: 'x' })).toEqual({ directive: 'x' })
  const { prompt: _, ...rest } = form
  expect(findForkEdits(form, rest)).toEqual({ prompt: '' })
  const inputs = { tone: 'dry' }
  expect(buildForkBody({ ...form, ...findForkEdits(form, { ...form, inputs }) }, origin)).toEqual({
    at: 14,
    inputs: { topic: '' },
  })
})

describe('buildForkBody', () => {
  it('buildForkBody begins at the turn if no field is changed', () => {
    expect(buildForkBody(form, origin)).toEqual({ at: 14 })
  })

  it('buildForkBody keeps the turn with guidance, changed inputs and allowed side effects', () => {
    const edited = { ...form, directive: ' Be brief ', inputs: { topic: 'storms', tone: 'dry' } }
    expect(buildForkBody({ ...edited, allowSideEffects: true }, origin)).toEqual({
      at: 14,
      inputs: { topic: 'storms' },
      directives: [{ content: 'Be brief', target: 'write' }],
      allowSideEffects: true,
    })
  })

  it('buildForkBody begins at the start of the task if the prompt is changed', () => {
    expect(buildForkBody({ ...form, prompt: 'Sing about {topic}' }, origin)).toEqual({
      at: { task: 'write' },
      taskOverrides: { write: { description: 'Sing about {topic}' } },
    })
  })

  it('buildForkBody sends braces of a prompt without variables as literal text', () => {
    const literal = { ...origin, prompt: { text: 'Return {json}', isTemplate: false } }
    const body = buildForkBody({ ...form, prompt: 'Return {json} only' }, literal)
    expect(body.taskOverrides).toEqual({ write: { description: 'Return {{json}} only' } })
  })

  it('buildForkBody begins at the task if no turn was chosen', () => {
    const whole = { ...origin, start: { taskName: 'write' }, beforeTurn: undefined }
    expect(buildForkBody(form, whole)).toEqual({ at: { task: 'write' } })
  })
})

describe('findForkPrompt', () => {
  it('findForkPrompt returns the template only if the run used it', () => {
    const inputs = { topic: 'tides' }
    const task = { description: 'Write about tides as {json}' }
    expect(findForkPrompt(task, 'Write about {topic} as {{json}}', inputs)).toEqual({
      text: 'Write about {topic} as {{json}}',
      isTemplate: true,
    })
    for (const template of ['Sing about {topic}', undefined]) {
      expect(findForkPrompt(task, template, inputs)).toEqual({
        text: task.description,
        isTemplate: false,
      })
    }
  })
})

describe('findSeqBeforeTurn', () => {
  const started = (seq: number, change: object = {}): LoggedRunEvent => ({
    type: 'llm_iteration_started',
    startedAt: '2026-01-01T00:00:00.000Z',
    runId: 'run-1',
    id: `${seq}`,
    seq,
    agentRole: 'Writer',
    taskDescription: 'Write',
    iterationIndex: 1,
    messages: [],
    totalMessageCount: 0,
    taskName: 'write',
    taskIndex: 1,
    attempt: 1,
    model: 'small',
    ...change,
  })

  it('findSeqBeforeTurn returns the event before the last start of the turn', () => {
    const events = [
      started(5, { iterationIndex: 0 }),
      started(9),
      started(12),
      started(20, { taskName: 'other' }),
      started(30, { attempt: 2 }),
    ]
    expect(findSeqBeforeTurn(events, origin.start)).toBe(11)
    expect(findSeqBeforeTurn(events.slice(0, 1), origin.start)).toBeUndefined()
    expect(findSeqBeforeTurn(events, { taskName: 'write' })).toBeUndefined()
  })
})
