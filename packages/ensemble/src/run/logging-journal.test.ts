import { expect, it } from 'vitest'

import { createLoggingJournal } from './logging-journal.ts'

import type { RunJournal } from '../ports/run-journal.ts'
import type { Logger } from '@tutti/core'
import type { RunEvent } from '@tutti/protocol'

const EVENT: RunEvent = {
  type: 'task_started',
  taskName: 'a',
  taskIndex: 1,
  totalTasks: 1,
  attempt: 1,
  taskDescription: 'A',
  agentRole: 'A',
  startedAt: '2026-01-01T00:00:00.000Z',
}

it('[ENS-E19] createLoggingJournal logs and passes on both emitted and committed events', async () => {
  const lines: string[] = []
  const taken: unknown[] = []
  const note: Logger['info'] = (message) => lines.push(message)
  const journal: RunJournal = {
    emit: (...args) => taken.push(args),
    async commit(...args) {
      taken.push(args)
    },
  }
  const logger = { debug: note, info: note, warn: note, error: note }
  const log = { runId: 'r', logger, toolLogTruncateLength: 200 }
  expect(createLoggingJournal(journal, { ...log, verbose: false })).toBe(journal)
  const { emit, commit } = createLoggingJournal(journal, { ...log, verbose: true })
  const step = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 } as const
  emit(EVENT, step)
  await commit(step, EVENT)
  await commit(step)
  expect(taken).toEqual([
    [EVENT, step],
    [step, EVENT],
    [step, undefined],
  ])
  expect(lines).toEqual(['Task started', 'Task started'])
})
