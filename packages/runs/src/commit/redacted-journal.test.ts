import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { modelAnswered, reasoning, token } from '../testing/support/event-fixtures.ts'
import { applyCaptureMode, redactedJournal, type RedactEvent } from './redacted-journal.ts'

import type { DurableJournal } from './group-commit.ts'
import type { RunEvent } from '@tutti/protocol'

const EVENT: RunEvent = {
  type: 'run_resumed',
  resumedAt: 'secret',
  epoch: 2,
  completedTasks: [],
  outputTask: 'sing',
}
const REDACTED: RunEvent = { ...EVENT, resumedAt: 'x' }
const redact: RedactEvent = () => REDACTED
const STEP = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 } as const

describe('redactedJournal', () => {
  it('redactedJournal redacts events and leaves steps unchanged', async () => {
    const { journal, calls } = recording()
    const redacted = redactedJournal(journal, redact)
    redacted.emit(EVENT, STEP)
    await redacted.commit(STEP, EVENT)
    await redacted.commit(STEP)
    expect(calls).toEqual([
      ['emit', REDACTED, STEP],
      ['commit', STEP, REDACTED],
      ['commit', STEP, undefined],
    ])
  })

  it('redactedJournal passes all other calls to the journal', async () => {
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

describe('[RUNS-J1] the capture mode OFF', () => {
  const answer = modelAnswered({
    reasoningTokens: 8,
    reasoning: 'Let me see',
    reasoningTruncated: true,
  })

  it('The capture mode OFF stores no reasoning, but its tokens', async () => {
    const { journal, calls } = recording()
    const redacted = redactedJournal(
      journal,
      applyCaptureMode('OFF', (event) => event),
    )
    redacted.emit(reasoning('Let me see'))
    redacted.emit(token('Yes'))
    await redacted.commit(STEP, answer)
    const { reasoning: _, reasoningTruncated: __, ...rest } = answer
    expect(calls).toEqual([
      ['emit', token('Yes'), undefined],
      ['commit', STEP, rest],
    ])
  })

  it('The capture mode OFF is the only mode that does', () => {
    for (const mode of ['STANDARD', 'DETAILED', 'FULL', undefined] as const) {
      const filter = applyCaptureMode(mode, (event) => event)
      expect([filter(reasoning('Hm')), filter(answer)]).toEqual([reasoning('Hm'), answer])
    }
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
