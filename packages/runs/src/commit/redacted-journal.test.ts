import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { redactedJournal, type RedactEvent } from './redacted-journal.ts'

import type { DurableJournal } from './group-commit.ts'
import type { RunEvent } from '@tutti/protocol'

const EVENT: RunEvent = { type: 'run_resumed', resumedAt: 'secret', epoch: 2, completedTasks: [] }
const REDACTED: RunEvent = { ...EVENT, resumedAt: 'x' }
const redact: RedactEvent = () => REDACTED

describe('redactedJournal', () => {
  it('redacts events and leaves steps unchanged', async () => {
    const { journal, calls } = recording()
    const redacted = redactedJournal(journal, redact)
    const step = { kind: 'cancel_asked', mode: 'abort', runMs: 0 } as const
    redacted.emit(EVENT, step)
    await redacted.commit(step, EVENT)
    await redacted.commit(step)
    expect(calls).toEqual([
      ['emit', REDACTED, step],
      ['commit', step, REDACTED],
      ['commit', step, undefined],
    ])
  })

  it('passes all other calls to the journal', async () => {
    const { journal, calls } = recording()
    const redacted = redactedJournal(journal, redact)
    const reason = new TuttiError('FENCED', 'Gone')
    redacted.answer({ commandId: 'a', ok: true })
    await redacted.flush()
    redacted.detach(reason)
    expect(calls).toEqual([['answer', { commandId: 'a', ok: true }], ['flush'], ['detach', reason]])
    expect(redacted.isFlushed).toBe(true)
    expect(redacted.lastWriteNo).toBe(3)
  })
})

function recording() {
  const calls: unknown[][] = []
  const journal: DurableJournal = {
    emit: (...given) => void calls.push(['emit', ...given]),
    commit: async (...given) => void calls.push(['commit', ...given]),
    answer: (...given) => void calls.push(['answer', ...given]),
    flush: async () => void calls.push(['flush']),
    detach: (...given) => void calls.push(['detach', ...given]),
    get isFlushed() {
      return calls.length > 0
    },
    get lastWriteNo() {
      return calls.length
    },
  }
  return { journal, calls }
}
