import { describe, expect, it, vi } from 'vitest'

import { createListenerJournal } from './run-journal.ts'

import type { RunStep } from './run-step.ts'
import type { RunEvent } from '@tutti/protocol'

const event: RunEvent = {
  type: 'task_skipped',
  taskIndex: 1,
  taskName: 'a',
  taskDescription: 'Do it',
  skippedAt: '2026-01-01T00:00:00Z',
  reason: 'The run was cancelled',
}
const step: RunStep = { kind: 'task_skipped', taskName: 'a', runMs: 0 }

describe('[ENS-E8] the journal of a listener', () => {
  it('tells it of every event, at once and in order', async () => {
    const onEvent = vi.fn<(told: RunEvent) => void>()
    const journal = createListenerJournal(onEvent, vi.fn<() => void>())
    journal.emit(event)
    expect(onEvent).toHaveBeenCalledTimes(1)
    const committing = journal.commit(step, event)
    expect(onEvent).toHaveBeenCalledTimes(2)
    await expect(committing).resolves.toBeUndefined()
  })

  it('tells it of no step that has no event', async () => {
    const onEvent = vi.fn<(told: RunEvent) => void>()
    await createListenerJournal(onEvent, vi.fn<() => void>()).commit(step)
    expect(onEvent).not.toHaveBeenCalled()
  })

  it('passes on what the listener throws, and goes on', async () => {
    const error = new Error('Full disk')
    const onError = vi.fn<(thrown: unknown) => void>()
    const journal = createListenerJournal(() => {
      throw error
    }, onError)
    journal.emit(event)
    await expect(journal.commit(step, event)).resolves.toBeUndefined()
    expect(onError.mock.calls).toEqual([[error], [error]])
  })

  it('passes on the rejection of a listener that is an async function', async () => {
    const error = new Error('Full disk')
    const onError = vi.fn<(thrown: unknown) => void>()
    // oxlint-disable-next-line typescript/no-misused-promises -- what a careless listener is
    const journal = createListenerJournal(() => Promise.reject(error), onError)
    journal.emit(event)
    await Promise.resolve()
    expect(onError.mock.calls).toEqual([[error]])
  })
})
