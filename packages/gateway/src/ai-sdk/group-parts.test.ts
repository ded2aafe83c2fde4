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
