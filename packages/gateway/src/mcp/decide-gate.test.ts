import { silentLogger, TuttiError } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { noMetrics, noRedactor } from '../../test/error-reporting.ts'
import { anyone } from '../caller.ts'
import { decideGate, type GateDesk } from './decide-gate.ts'

/** A desk where a decision ends as said. */
function deskOf(
  end: Error | undefined,
  scopes: readonly string[] = ['reviews:decide'],
  roles: readonly string[] = ['legal'],
) {
  const decided: unknown[] = []
  const runs = {
    review: async () => ({
      runId: 'run-1',
      request: { timing: 'AFTER_EXECUTION', requiredRole: 'legal' },
    }),
    send: (runId: string, command: object) => {
      decided.push([runId, command])
      return end === undefined ? Promise.resolve({}) : Promise.reject(end)
    },
  }
  const desk = {
    caller: { ...anyone(), name: 'ci', scopes: new Set(scopes), roles: new Set(roles) },
    options: {
      runs,
      clock: fakeClock(),
      logger: silentLogger,
      redactor: noRedactor,
      metrics: noMetrics,
      trail: { record: () => undefined },
    },
    // NOTE: no more of a run service and of a trail is used.
  } as unknown as GateDesk
  const decide = (content: unknown) => decideGate(desk, { runId: 'run-1', reviewId: 'r1' }, content)
  return { decided, decide }
}

const CONTINUE = { decision: 'CONTINUE' }

describe('decideGate', () => {
  it('decides in the name of the caller', async () => {
    const { decided, decide } = deskOf(undefined)
    expect(await decide(CONTINUE)).toBeUndefined()
    const decision = { action: 'CONTINUE', decidedBy: 'ci' }
    expect(decided).toEqual([['run-1', { kind: 'decide', reviewId: 'r1', decision }]])
  })

  it('says which role the caller lacks, and decides nothing', async () => {
    const { decided, decide } = deskOf(undefined, ['reviews:decide'], ['ops'])
    expect(await decide(CONTINUE)).toContain('requires the role "legal"')
    expect(decided).toEqual([])
  })

  it.each(['REVIEW_RESOLVED', 'REVIEW_NOT_FOUND', 'RUN_COMPLETED'] as const)(
    'is content when somebody else was first: %s',
    async (code) => {
      const { decide } = deskOf(new TuttiError(code, 'Too late'))
      expect(await decide(CONTINUE)).toBeUndefined()
    },
  )

  it('says what keeps the decision from being taken', async () => {
    const { decide } = deskOf(new TuttiError('STORE_UNAVAILABLE', 'The store is away'))
    expect(await decide(CONTINUE)).toBe('The store is away')
    expect(await deskOf(undefined).decide({})).toContain('got nothing')
  })

  it('decides nothing for a caller who may not', async () => {
    const { decided, decide } = deskOf(undefined, ['runs:write'])
    expect(await decide(CONTINUE)).toContain('lacks the scope reviews:decide')
    expect(decided).toEqual([])
  })
})
