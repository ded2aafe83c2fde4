/** Tests two levels of delegation: a run calls a run on a second server, which calls one on a third. */
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  CALL,
  nestedServers,
  type NestedOptions,
  type NestedServers,
  type Wire,
} from './nested-servers.ts'

import type { RunEventOf } from '@tutti/protocol'
import type { ReviewVerdict } from '@tutti/protocol/internal'
import type { FakeClock } from '@tutti/testing'

const WIRES = ['a2a', 'tasks', 'mcp', 'peer'] as const satisfies readonly Wire[]

const MODES = ['sync', 'streaming'] as const

const CASES = WIRES.flatMap((wire) => MODES.map((mode) => ({ wire, mode })))

/** Information that each wire carries in addition to the task and its answer. */
const CARRIES = {
  a2a: { usage: true, limits: true, questions: true },
  tasks: { usage: true, limits: true, questions: true },
  mcp: { usage: true, limits: true, questions: true },
  // The peer protocol carries a deadline, but neither cost nor tokens. It only reports that a review is waiting; the
  // review is decided on the server where the task runs.
  peer: { usage: false, limits: false, questions: false },
} as const satisfies Record<Wire, object>

async function nested(options: NestedOptions): Promise<NestedServers> {
  const servers = await nestedServers(options)
  onTestFinished(() => servers[Symbol.asyncDispose]())
  return servers
}

/** Advances the clock until the promise resolves. */
async function advanceUntil(clock: FakeClock, happened: Promise<unknown>): Promise<void> {
  let isDone = false
  void happened.then(() => {
    isDone = true
  })
  while (!isDone) await clock.advance(1_000)
}

/** Returns the cost in US dollars; NaN if unknown. */
function readRunCost(result: RunEventOf<'run_result'> | undefined): number {
  const { inputCost = NaN, outputCost = NaN } = result?.metrics?.costEstimate ?? {}
  return inputCost + outputCost
}

/** Returns the results of the newest runs on the second and third server. */
async function readLowerResults({ second, third }: NestedServers) {
  const [middle, deep] = await Promise.all(
    [second, third].map(async (server) => server.ended((await server.newest()).runId)),
  )
  return { middle, deep }
}

describe.each(CASES)('two levels of servers, the lower over $wire, $mode', ({ wire, mode }) => {
  const carries = CARRIES[wire]

  test('The lower server passes the answer and its cost up', async () => {
    const servers = await nested({ wire, mode, deep: 'answer' })
    const { runId } = await servers.submit()
    const result = await servers.first.ended(runId)
    expect(result).toMatchObject({ status: 'COMPLETED', outputs: [{ output: 'Found it' }] })
    // Two model calls on the first server, two on the second, one on the third.
    const calls = carries.usage ? 5 : 4
    expect(result.metrics?.totalTokens).toBe(calls * CALL.tokens)
    expect(readRunCost(result)).toBeCloseTo(calls * CALL.costUsd)
    const { deep } = await readLowerResults(servers)
    expect(readRunCost(deep)).toBeCloseTo(CALL.costUsd)
  })

  test('A cancel at the top stops the tool at the bottom and cancels all three runs', async () => {
    const servers = await nested({ wire, mode, deep: 'dig' })
    const { first, digging, stopped } = servers
    const { runId } = await servers.submit()
    await digging
    await first.runs.send(runId, { kind: 'cancel' })
    // Over `tasks/send` the task id arrives with the answer, so the caller cannot cancel the task: the server cancels
    // the run of a disconnected caller after half a minute.
    if (wire === 'tasks' && mode === 'sync') await advanceUntil(servers.clock, stopped)
    await stopped
    expect(await first.ended(runId)).toMatchObject({ status: 'CANCELLED' })
    const { middle, deep } = await readLowerResults(servers)
    expect({ middle: middle?.status, deep: deep?.status }).toEqual({
      middle: 'CANCELLED',
      deep: 'CANCELLED',
    })
  })

  test('A nested call passes the trace of the caller to the tool at the bottom', async () => {
    const servers = await nested({ wire, mode, deep: 'dig' })
    const response = await fetch(`${servers.first.url}/api/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: TRACEPARENT },
      body: JSON.stringify({ inputs: { input: 'gold' } }),
    })
    expect(response.status).toBe(202)
    expect(await servers.digging).toContain(TRACE_ID)
    const deepest = await servers.third.newest()
    await servers.third.runs.send(deepest.runId, { kind: 'cancel' })
    await readLowerResults(servers)
  })

  test('A question at the bottom opens a review at the top, whose answer is passed down', async () => {
    const servers = await nested({ wire, mode, deep: 'ask' })
    const { runId } = await servers.submit()
    await servers.asking
    const reviewing = carries.questions ? servers.first : servers.third
    const {
      reviewId,
      runId: askedIn,
      request,
    } = await reviewing.asked((await reviewing.newest()).runId)
    expect(request).toMatchObject({ kind: 'QUESTION', answerSchema: { type: 'string' } })
    // A form of MCP has no field for the task, so its message names it.
    const named = wire === 'mcp' ? '\n\nTask "deep" asks through the tool ask' : ''
    expect(request.prompt).toBe(`Where is it?${named}`)
    const decision = { action: 'EDIT', revisedOutput: 'under the oak' } as const
    await reviewing.runs.send(askedIn, { kind: 'decide', reviewId, decision })
    expect(await servers.first.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'There: under the oak' }],
    })
  })

  test.runIf(carries.questions)(
    'A nested call waits for a person at the top for longer than the deadline of a turn',
    async () => {
      const servers = await nested({ wire, mode, deep: 'ask' })
      const { runId } = await servers.submit()
      await servers.asking
      const { reviewId } = await servers.first.asked(runId)
      // The deadline of a turn is 60 s, and the third server measures it with this clock.
      for (let minute = 0; minute < 60; minute += 1) await servers.clock.advance(60_000)
      const decision = { action: 'EDIT', revisedOutput: 'under the oak' } as const
      await servers.first.runs.send(runId, { kind: 'decide', reviewId, decision })
      expect(await servers.first.ended(runId)).toMatchObject({
        status: 'COMPLETED',
        outputs: [{ output: 'There: under the oak' }],
      })
    },
  )

  test('A review at the bottom opens a review at the top, whose decision is passed down', async () => {
    const servers = await nested({ wire, mode, deep: 'review' })
    const { runId } = await servers.submit()
    await servers.answered
    const reviewing = carries.questions ? servers.first : servers.third
    const review = await reviewing.asked((await reviewing.newest()).runId)
    expect(JSON.stringify(review.request)).toContain('Is it gold?')
    const { reviewId } = review
    await reviewing.runs.send(review.runId, { kind: 'decide', reviewId, decision: approve(wire) })
    expect(await servers.first.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'Found it' }],
    })
  })

  test('A budget at the top fails the top run and ends the runs below it, if the wire carries limits', async () => {
    const servers = await nested({ wire, mode, deep: 'spend' })
    // The first and the second server use one call each before the third starts, which leaves one and a half.
    const budget = { maxCostUsd: 3.5 * CALL.costUsd }
    const { runId } = await servers.submit({ budget })
    const top = await servers.first.ended(runId)
    const { middle, deep } = await readLowerResults(servers)
    if (!carries.limits) {
      // A wire that does not carry limits does not report usage either.
      expect([top, middle, deep].map((end) => end?.status)).toEqual(
        Array.from({ length: 3 }).fill('COMPLETED'),
      )
      return
    }
    expect(top).toMatchObject({ status: 'FAILED', error: BUDGET_IS_USED_UP })
    expect(readRunCost(deep)).toBeCloseTo(2 * CALL.costUsd)
    for (const [server, end] of [
      [servers.second, middle],
      [servers.third, deep],
    ] as const) {
      // Both servers count the same usage. A run that has not failed when its caller fails is cancelled by its caller.
      if (end?.status === 'FAILED') expect(end).toMatchObject({ error: BUDGET_IS_USED_UP })
      else {
        expect(end).toMatchObject({ status: 'CANCELLED' })
        const { runId: cancelled } = await server.newest()
        expect(await server.event(cancelled, 'run_cancelling')).toMatchObject({ cause: 'CALLER' })
      }
    }
  })
})

const BUDGET_IS_USED_UP = expect.stringMatching(/^The budget of the run is used up: maxCostUsd is /)

/** Returns the answer that approves the output: text, a form over MCP, or a decision on the server of the review. */
function approve(wire: Wire): ReviewVerdict {
  if (wire === 'peer') return { action: 'CONTINUE' }
  return { action: 'EDIT', revisedOutput: wire === 'mcp' ? '{"decision":"CONTINUE"}' : 'approve' }
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`
