import { expect, it, vi } from 'vitest'

import { anyone } from '../src/caller.ts'
import { followCall, type FollowedCall } from '../src/mcp/follow-run.ts'
import { NO_CALL_REVIEWS } from '../src/mcp/reviews.ts'
import { auditedCall } from '../src/service/gateway-call.ts'
import { GatewayService } from '../src/service/gateway-service.ts'
import { openGateway } from './open-gateway.ts'

/** A gateway, and a function that follows a run for a call. */
async function openFollower() {
  const gateway = await openGateway()
  const follow = (runId: string, more: Partial<FollowedCall>) =>
    followCall({
      service: new GatewayService(gateway.options),
      call: auditedCall(gateway.options, anyone()),
      runId,
      valueTask: undefined,
      lastSeq: -1,
      reviews: NO_CALL_REVIEWS,
      signal: new AbortController().signal,
      isExplicit: true,
      report: undefined,
      ...more,
    })
  return { gateway, follow }
}

it('[GW-F2] The follower of an MCP call cancels the run of a client that disconnects before the run is followed', async () => {
  const { gateway, follow } = await openFollower()
  await using _ = gateway
  const runId = await gateway.submit()
  const followed = follow(runId, { signal: AbortSignal.abort() })
  await expect(followed).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  const ends: string[] = []
  for await (const events of gateway.runs.follow({ runId, from: 0 })) {
    for (const event of events) if (event.type === 'run_result') ends.push(event.status)
  }
  expect(ends).toEqual(['CANCELLED'])
})

it('[GW-F2] The follower of an MCP call cancels nothing when a client disconnects after the result, and leaves no timer', async () => {
  const { gateway, follow } = await openFollower()
  await using _ = gateway
  const asked: string[] = []
  vi.spyOn(gateway.runs, 'send').mockImplementation((runId) => {
    asked.push(runId)
    return Promise.resolve({ status: 'CANCELLING' })
  })
  gateway.play()
  const client = new AbortController()
  const told: string[] = []
  const result = await follow(await gateway.submit(), {
    signal: client.signal,
    report: async ({ message }) => {
      told.push(message)
    },
  })
  expect(result).toMatchObject({ structuredContent: { status: 'COMPLETED' } })
  expect(told.at(-1)).toBe('"play" completed: 2 of 2')
  client.abort()
  expect(asked).toEqual([])
  expect(gateway.clock.pending).toBe(0)
})
