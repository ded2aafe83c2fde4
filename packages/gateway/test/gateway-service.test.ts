import { TuttiError } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { anyone, type Caller } from '../src/caller.ts'
import { auditedCall } from '../src/service/gateway-call.ts'
import { GatewayService, type BeginRequest } from '../src/service/gateway-service.ts'
import { openGateway, type OpenGateway } from './open-gateway.ts'

const choir = ensemble({
  name: 'choir',
  tasks: [task({ name: 'sing', description: 'Sing', review: true })],
  model: scriptedModel(() => 'La'),
})

function callOf({ options }: OpenGateway, caller: Partial<Caller> = {}) {
  return auditedCall(options, { ...anyone(), name: 'ci', ...caller })
}

const INPUTS = { composer: 'Bach', hall: 'A' }

const begin = (more: Partial<BeginRequest> = {}) => ({
  ensemble: { name: 'band' },
  inputs: INPUTS,
  ...more,
})

/** Reads every message as approval of a review, or as guidance. */
const message = (reviewId?: string) => ({
  reviewId,
  decide: () => ({ decision: 'CONTINUE' as const }),
  guide: () => 'louder',
})

async function endOf({ runs }: OpenGateway, runId: string): Promise<string | undefined> {
  for await (const events of runs.follow({ runId, from: 0 })) {
    for (const event of events) if (event.type === 'run_result') return event.status
  }
  return undefined
}

async function reviewOf({ runs }: OpenGateway, runId: string): Promise<string> {
  for await (const events of runs.follow({ runId, from: 0 })) {
    for (const event of events) if (event.type === 'review_requested') return event.reviewId
  }
  throw new Error('The run ended without a review')
}

it('[GW-G2] The gateway service starts one task for each idempotency key and caller', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const request = begin({ idempotencyKey: 'k', tags: { wire: 'x' } })
  const first = await service.begin(callOf(gateway), () => request)
  const again = await service.begin(callOf(gateway), () => request)
  expect(again.runId).toBe(first.runId)
  expect(first).toMatchObject({ actor: 'ci', tags: { wire: 'x' } })
  const entry = { action: 'submitRun', outcome: 'DONE', runId: first.runId }
  expect(gateway.audit).toMatchObject([entry, entry])
})

it('The gateway service audits a request that is invalid or lacks the scope as refused', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const unread = service.begin(callOf(gateway), () => {
    throw new TuttiError('BAD_REQUEST', 'Not readable')
  })
  await expect(unread).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const reader = callOf(gateway, { scopes: new Set(['runs:read']) })
  await expect(service.begin(reader, begin)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(gateway.audit).toMatchObject([
    { outcome: 'REFUSED', error: 'BAD_REQUEST' },
    { outcome: 'REFUSED', error: 'FORBIDDEN' },
  ])
  expect((await gateway.runs.list({ limit: 9, offset: 0 })).total).toBe(0)
})

it('[GW-G1] The gateway service finds only the tasks of the given ensembles, for callers that may read them', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const runId = await gateway.submit()
  const { caller } = callOf(gateway)
  expect(await service.find(runId, [{ name: 'band' }], caller)).toMatchObject({ runId })
  expect(await service.find(runId, [{ name: 'choir' }], caller)).toBeUndefined()
  expect(await service.find('run-x', [{ name: 'band' }], caller)).toBeUndefined()
  const writer = callOf(gateway, { scopes: new Set(['runs:write']) })
  await expect(service.find(runId, [{ name: 'band' }], writer.caller)).rejects.toThrow(
    'lacks the scope runs:read',
  )
})

it('[GW-A6] The gateway service cancels the abandoned run of another caller only with runs:control', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const runId = await gateway.submit()
  const reader = callOf(gateway, { scopes: new Set(['runs:read', 'runs:write']) })
  await service.cancelAbandoned(reader, runId, { isExplicit: true })
  expect(gateway.audit).toMatchObject([{ outcome: 'REFUSED', error: 'FORBIDDEN' }])
  const controller = callOf(gateway, { scopes: new Set(['runs:control']) })
  await service.cancelAbandoned(controller, runId, { isExplicit: true })
  expect(await endOf(gateway, runId)).toBe('CANCELLED')
})

it('[GW-G3] The gateway service guides the agents of a task without an open review', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const run = await service.begin(callOf(gateway), begin)
  await service.continue(callOf(gateway), run, message())
  gateway.play()
  expect(await endOf(gateway, run.runId)).toBe('COMPLETED')
  const [directive] = await gateway.runs.readEvents({
    runId: run.runId,
    from: 0,
    limit: 1,
    types: ['directive_active'],
  })
  expect(directive).toMatchObject({ content: 'louder', actor: 'ci' })
})

it('The gateway service decides the open review of a task, and rejects a review of another task', async () => {
  await using gateway = await openGateway({ ensembles: [choir] })
  const service = new GatewayService(gateway.options)
  const request = begin({ ensemble: choir, inputs: {} })
  const [run, other] = [
    await service.begin(callOf(gateway), () => request),
    await service.begin(callOf(gateway), () => request),
  ]
  const [, foreign] = [await reviewOf(gateway, run.runId), await reviewOf(gateway, other.runId)]
  await expect(service.continue(callOf(gateway), run, message(foreign))).rejects.toMatchObject({
    code: 'REVIEW_NOT_FOUND',
  })
  const guide = callOf(gateway, { scopes: new Set(['runs:control']) })
  await expect(service.continue(guide, run, message())).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await service.continue(callOf(gateway), run, message())
  expect(await endOf(gateway, run.runId)).toBe('COMPLETED')
})

it('The gateway service cancels a task, and resolves when its work has stopped', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const run = await service.begin(callOf(gateway), begin)
  const { signal } = new AbortController()
  await service.cancel(callOf(gateway), run, { waitMs: 60_000, signal })
  expect(await gateway.runs.record(run.runId)).toMatchObject({ status: 'CANCELLED' })
  const again = service.cancel(callOf(gateway), run, { waitMs: 0, signal })
  await expect(again).rejects.toMatchObject({ code: 'RUN_COMPLETED' })
})

it('[GW-G4] The gateway service cancels a task at its deadline, which counts from its creation', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  const at = Date.now() - gateway.clock.now()
  const limits = { deadline_ms: 60_000 }
  const run = await service.begin(callOf(gateway), () => begin({ limits }))
  await gateway.clock.advance(at + 120_000)
  expect(await endOf(gateway, run.runId)).toBe('CANCELLED')
})

it('The age of an earlier result is measured with the clock of runs', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  gateway.play()
  const cached = begin({ cacheKey: 'k', maxAgeMs: 3_600_000 })
  const first = await service.begin(callOf(gateway), () => cached)
  await endOf(gateway, first.runId)
  // The system clock is set two hours ahead.
  await gateway.clock.advance(gateway.options.runs.clock.now() - gateway.clock.now() + 7_200_000)
  const second = await service.begin(callOf(gateway), () => cached)
  expect(second.runId).toBe(first.runId)
})

it('The gateway service returns an earlier result with the same cache key that is not too old', async () => {
  await using gateway = await openGateway()
  const service = new GatewayService(gateway.options)
  gateway.play()
  const cached = begin({ cacheKey: 'k', maxAgeMs: Infinity })
  const first = await service.begin(callOf(gateway), () => cached)
  await endOf(gateway, first.runId)
  const second = await service.begin(callOf(gateway), () => cached)
  expect(second.runId).toBe(first.runId)
  const fresh = await service.begin(callOf(gateway), () => begin({ cacheKey: 'k' }))
  expect(fresh.runId).not.toBe(first.runId)
})
