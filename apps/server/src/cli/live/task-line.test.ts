import { runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { expect, it } from 'vitest'

import { marksFor } from './marks.ts'
import { taskLine } from './task-line.ts'

const AT = '2026-01-01T00:00:00.000Z'

/** An event with only the fields that are read. */
const event = (type: LoggedRunEvent['type'], fields: object): LoggedRunEvent =>
  ({ type, taskName: 'support', taskIndex: 1, attempt: 1, ...fields }) as LoggedRunEvent

const handOff = (taskName: string, workerRole: string, index: number): LoggedRunEvent =>
  event('delegation_started', {
    taskName,
    taskIndex: index - 1,
    delegationId: `d-${index}`,
    workerRole,
    workerTask: `support/${workerRole}`,
    workerTaskIndex: index,
    handoff: true,
  })

it('The line of a task names the agent that has its conversation', () => {
  const task = { name: 'support', description: 'Help', agentRole: 'Triage', context: [] }
  const started = [
    event('ensemble_started', { startedAt: AT, tasks: [task], outputTask: 'support' }),
    event('task_started', { startedAt: AT, agentRole: 'Triage' }),
  ]
  const textAfter = (events: readonly LoggedRunEvent[]): string => {
    const state = runStateAfter(events)
    const [first] = state.tasks
    if (first === undefined) throw new Error('unreachable')
    const context = { now: Date.parse(AT), marks: marksFor({}, 'linux'), nameWidth: 7 }
    return taskLine(first, state, context)
      .map(({ text }) => text)
      .join('')
  }
  expect(textAfter(started)).toMatch(/ support .* starting$/)
  const billing = [...started, handOff('support', 'Billing', 2)]
  expect(textAfter(billing)).toMatch(/handed off to Billing, starting$/)
  const begun = event('task_started', { taskName: 'support/Billing', taskIndex: 2, startedAt: AT })
  expect(textAfter([...billing, begun, handOff('support/Billing', 'Refunds', 3)])).toMatch(
    /handed off to Refunds, starting$/,
  )
})
