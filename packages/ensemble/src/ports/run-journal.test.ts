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

describe('[ENS-E8] createListenerJournal', () => {
  it('createListenerJournal calls the listener with every event, synchronously and in order', async () => {
    const onEvent = vi.fn<(event: RunEvent) => void>()
    const journal = createListenerJournal(onEvent, vi.fn<() => void>())
    journal.emit(event)
    expect(onEvent).toHaveBeenCalledTimes(1)
    const committing = journal.commit(step, event)
    expect(onEvent).toHaveBeenCalledTimes(2)
    await expect(committing).resolves.toBeUndefined()
  })

  it('createListenerJournal does not call the listener for a step without an event', async () => {
    const onEvent = vi.fn<(event: RunEvent) => void>()
    await createListenerJournal(onEvent, vi.fn<() => void>()).commit(step)
    expect(onEvent).not.toHaveBeenCalled()
  })

  it('createListenerJournal reports what the listener throws and continues', async () => {
    const error = new Error('Full disk')
    const onError = vi.fn<(thrown: unknown) => void>()
    const journal = createListenerJournal(() => {
      throw error
    }, onError)
    journal.emit(event)
    await expect(journal.commit(step, event)).resolves.toBeUndefined()
    expect(onError.mock.calls).toEqual([[error], [error]])
  })

  it('createListenerJournal reports the rejection of an async listener', async () => {
    const error = new Error('Full disk')
    const onError = vi.fn<(thrown: unknown) => void>()
    // oxlint-disable-next-line typescript/no-misused-promises -- an async listener by mistake
    const journal = createListenerJournal(() => Promise.reject(error), onError)
    journal.emit(event)
    await Promise.resolve()
    expect(onError.mock.calls).toEqual([[error]])
  })
})
