import { TuttiError } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { noMetrics, noRedactor } from '../../test/error-reporting.ts'
import { anyone, type Caller } from '../caller.ts'
import { auditedCall } from '../service/gateway-call.ts'
import { GatewayService } from '../service/gateway-service.ts'
import { decideByForm } from './reviews.ts'

import type { GatewayOptions } from '../gateway-options.ts'

/** A run service whose decisions succeed, or fail with `error`. */
function deciding(
  end: Error | undefined,
  scopes: readonly string[] = ['reviews:decide'],
  roles: readonly string[] = ['legal'],
) {
  const decided: unknown[] = []
  const runs = {
    reviews: {
      get: async () => ({
        runId: 'run-1',
        request: { kind: 'TASK_OUTPUT', timing: 'AFTER_EXECUTION', requiredRole: 'legal' },
      }),
    },
    send: (runId: string, command: object) => {
      decided.push([runId, command])
      return end === undefined ? Promise.resolve({}) : Promise.reject(end)
    },
  }
  const caller = {
    ...anyone(),
    name: 'ci',
    scopes: new Set(scopes) as Caller['scopes'],
    roles: new Set(roles),
  }
  // NOTE: no other options are used.
  const options = {
    runs,
    clock: fakeClock(),
    logger: silentLogger,
    redactor: noRedactor,
    metrics: noMetrics,
    trail: { record: () => undefined },
  } as unknown as GatewayOptions
  const context = { service: new GatewayService(options), call: auditedCall(options, caller) }
  const review = { reviewId: 'r1', request: {} }
  const decide = (content: unknown) => decideByForm(context, review, content)
  return { decided, decide }
}

const CONTINUE = { decision: 'CONTINUE' }

describe('decideByForm', () => {
  it('decideByForm decides in the name of the caller', async () => {
    const { decided, decide } = deciding(undefined)
    expect(await decide(CONTINUE)).toBeUndefined()
    const decision = { action: 'CONTINUE', decidedBy: 'ci' }
    expect(decided).toEqual([['run-1', { kind: 'decide', reviewId: 'r1', decision }]])
  })

  it('decideByForm reports the role that the caller lacks, and decides nothing', async () => {
    const { decided, decide } = deciding(undefined, ['reviews:decide'], ['ops'])
    expect(await decide(CONTINUE)).toContain('requires the role "legal"')
    expect(decided).toEqual([])
  })

  it.each(['REVIEW_RESOLVED', 'REVIEW_NOT_FOUND', 'RUN_COMPLETED'] as const)(
    'decideByForm ignores that another client decided first: %s',
    async (code) => {
      const { decide } = deciding(new TuttiError(code, 'Too late'))
      expect(await decide(CONTINUE)).toBeUndefined()
    },
  )

  it('decideByForm reports why the decision was not accepted', async () => {
    const { decide } = deciding(new TuttiError('STORE_UNAVAILABLE', 'The store is away'))
    expect(await decide(CONTINUE)).toBe('The store is away')
    expect(await deciding(undefined).decide({})).toContain('got nothing')
  })

  it('decideByForm decides nothing without the scope', async () => {
    const { decided, decide } = deciding(undefined, ['runs:write'])
    expect(await decide(CONTINUE)).toContain('lacks the scope reviews:decide')
    expect(decided).toEqual([])
  })
})
