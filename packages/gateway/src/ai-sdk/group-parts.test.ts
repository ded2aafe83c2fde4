import { expect, it } from 'vitest'

import { ChatChunks } from './chunks.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const event = (type: LoggedRunEvent['type'], fields: object): LoggedRunEvent =>
  // NOTE: with the fields that are read.
  ({ type, seq: 0, ...fields }) as LoggedRunEvent

it('[GW-C4] [GW-GP1] A message has few parts about many tasks that one task has added, which replace each other', () => {
  const chunks = new ChatChunks('run-1')
  const added = Array.from({ length: 1_000 }, (_, at) => {
    const [taskName, delegationId] = [`grow/${at}`, `d-${at}`]
    return [
      event('delegation_started', { taskName: 'grow', workerTask: taskName, delegationId }),
      event('task_started', { taskName, attempt: 1 }),
      event('task_completed', { taskName, output: 'Done' }),
      event('delegation_completed', { taskName: 'grow', workerTask: taskName, delegationId }),
    ]
  })
  const parts = added.flat().flatMap((one) => chunks.after(one))
  expect(parts.length).toBeLessThan(130)
  const groups = parts.filter(({ type }) => type === 'data-group')
  expect(groups[0]).toEqual({
    type: 'data-group',
    id: 'grow',
    data: { parent: 'grow', added: 22, completed: 22, failed: 0 },
  })
  expect(new Set(groups.map((part) => 'id' in part && part.id))).toEqual(new Set(['grow']))
})

/** Events of a call of the tool `find` by the task with a number, with those of its review. */
function called(at: number, review: readonly LoggedRunEvent[] = []): readonly LoggedRunEvent[] {
  const position = { taskName: `grow/${at}`, taskIndex: at + 2, attempt: 1, iterationIndex: 0 }
  const request = { id: 'call', name: 'find', arguments: '{"at":1}' }
  return [
    event('delegation_started', {
      taskName: 'grow',
      workerTask: position.taskName,
      delegationId: `d-${at}`,
    }),
    event('llm_iteration_completed', { ...position, toolRequests: [request] }),
    ...review.map((one) => ({ ...one, ...position })),
    event('tool_called', { ...position, toolCallId: 'call', toolName: 'find', toolResult: 'It' }),
  ]
}

it('[GW-C3] [GW-GP4] A message has no parts about the tool calls of counted tasks', () => {
  const chunks = new ChatChunks('run-1')
  const types = Array.from({ length: 100 }, (_, at) => called(at))
    .flat()
    .flatMap((one) => chunks.after(one).map(({ type }) => type))
  expect(types.filter((type) => type === 'tool-input-available')).toHaveLength(20)
  expect(types.filter((type) => type === 'tool-output-available')).toHaveLength(20)
})

it('[GW-C3] [GW-C5] [GW-GP4] A message has the parts of a counted task whose call is under review', () => {
  const chunks = new ChatChunks('run-1')
  for (const one of Array.from({ length: 20 }, (_, at) => called(at)).flat()) chunks.after(one)
  const reviewId = 'review-1'
  const asked = { reviewId, toolCallId: 'call', toolName: 'find', timing: 'DURING_EXECUTION' }
  const parts = called(20, [
    event('review_requested', { ...asked, kind: 'TOOL_CALL', taskDescription: 'Find' }),
    event('review_decided', { reviewId, decision: 'CONTINUE' }),
  ]).flatMap((one) => chunks.after(one))
  expect(parts.map(({ type }) => type)).toEqual([
    'tool-input-available',
    'tool-approval-request',
    'tool-output-available',
  ])
  expect(parts[0]).toMatchObject({ toolName: 'find', input: { at: 1 } })
})

it('[GW-C4] The part of a delegation says whether it is a handoff', () => {
  const chunks = new ChatChunks('run-1')
  const fields = { taskName: 'grow', workerTask: 'grow/B', delegationId: 'd', workerRole: 'B' }
  const sent = chunks.after(event('delegation_started', { ...fields, handoff: true }))
  expect(sent).toMatchObject([
    { type: 'data-delegation', data: { workerRole: 'B', handoff: true } },
  ])
})
