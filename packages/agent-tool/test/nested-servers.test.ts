/** What holds over two levels of servers: a run asks a run of another server, and that one of a third. */
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  CALL,
  nestedServers,
  type NestedOptions,
  type NestedServers,
  type Wire,
} from './nested-servers.ts'

import type { ReviewAnswer } from '@tutti/ensemble'
import type { RunEventOf } from '@tutti/protocol'
import type { FakeClock } from '@tutti/testing'

const WIRES = ['a2a', 'tasks', 'mcp', 'peer'] as const satisfies readonly Wire[]

const MODES = ['sync', 'streaming'] as const

const WAYS = WIRES.flatMap((wire) => MODES.map((mode) => ({ wire, mode })))

/** What a wire has words for, besides the task and its answer. */
const CARRIES = {
  a2a: { usage: true, limits: true, questions: true },
  tasks: { usage: true, limits: true, questions: true },
  mcp: { usage: true, limits: true, questions: true },
  // A peer is told a deadline; it has no field for cost and tokens, in neither direction, and can only be told
  // that a review waits: it is decided where the task runs.
  peer: { usage: false, limits: false, questions: false },
} as const satisfies Record<Wire, object>

async function nested(options: NestedOptions): Promise<NestedServers> {
  const servers = await nestedServers(options)
  onTestFinished(() => servers[Symbol.asyncDispose]())
  return servers
}

/** Moves time on until something has happened. */
async function advanceUntil(clock: FakeClock, happened: Promise<unknown>): Promise<void> {
  let isOver = false
  void happened.then(() => {
    isOver = true
  })
  while (!isOver) await clock.advance(1_000)
}

/** In US dollars; NaN when it is not known. */
function costOf(result: RunEventOf<'run_result'> | undefined): number {
  const { inputCost = NaN, outputCost = NaN } = result?.metrics?.costEstimate ?? {}
  return inputCost + outputCost
}

/** How the newest runs of the second and the third server ended. */
async function endsBelow({ second, third }: NestedServers) {
  const [middle, deep] = await Promise.all(
    [second, third].map(async (server) => server.ended((await server.newest()).runId)),
  )
  return { middle, deep }
}

describe.each(WAYS)('two levels, the lower over $wire, $mode', ({ wire, mode }) => {
  const carries = CARRIES[wire]

  test('the answer comes up, and so does what it cost', async () => {
    const servers = await nested({ wire, mode, deep: 'answer' })
    const { runId } = await servers.submit()
    const result = await servers.first.ended(runId)
    expect(result).toMatchObject({ status: 'COMPLETED', outputs: [{ output: 'Found it' }] })
    // Two calls above, two in the middle, one below.
    const calls = carries.usage ? 5 : 4
    expect(result.metrics?.totalTokens).toBe(calls * CALL.tokens)
    expect(costOf(result)).toBeCloseTo(calls * CALL.costUsd)
    const { deep } = await endsBelow(servers)
    expect(costOf(deep)).toBeCloseTo(CALL.costUsd)
  })

  test('a cancel above stops the tool at the bottom, and all three are CANCELLED', async () => {
    const servers = await nested({ wire, mode, deep: 'dig' })
    const { first, digging, stopped } = servers
    const { runId } = await servers.submit()
    await digging
    await first.runs.send(runId, { kind: 'cancel' })
    // Over `tasks/send` the id of a task comes with its answer, so there is nothing to say the cancel of: the server
    // gives the run of a caller who went away half a minute.
    if (wire === 'tasks' && mode === 'sync') await advanceUntil(servers.clock, stopped)
    await stopped
    expect(await first.ended(runId)).toMatchObject({ status: 'CANCELLED' })
    const { middle, deep } = await endsBelow(servers)
    expect({ middle: middle?.status, deep: deep?.status }).toEqual({
      middle: 'CANCELLED',
      deep: 'CANCELLED',
    })
  })

  test('the trace of the one who asks reaches the tool at the bottom', async () => {
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
    await endsBelow(servers)
  })

  test('a question at the bottom is a review at the top, whose answer goes down', async () => {
    const servers = await nested({ wire, mode, deep: 'ask' })
    const { runId } = await servers.submit()
    await servers.asking
    // Over MCP a question is a form: whoever answers it in words says its value as JSON.
    const answer = wire === 'mcp' ? '{"answer":"under the oak"}' : 'under the oak'
    const desk = carries.questions ? servers.first : servers.third
    const { reviewId, runId: askedIn, request } = await desk.asked((await desk.newest()).runId)
    expect(JSON.stringify(request)).toContain('Where is it?')
    const decision = { action: 'EDIT', input: answer } as const
    await desk.runs.send(askedIn, { kind: 'decide', reviewId, decision })
    expect(await servers.first.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'There: under the oak' }],
    })
  })

  test('a review at the bottom is one at the top, and its decision goes down', async () => {
    const servers = await nested({ wire, mode, deep: 'gate' })
    const { runId } = await servers.submit()
    await servers.answered
    const desk = carries.questions ? servers.first : servers.third
    const review = await desk.asked((await desk.newest()).runId)
    expect(JSON.stringify(review.request)).toContain('Is it gold?')
    const { reviewId } = review
    await desk.runs.send(review.runId, { kind: 'decide', reviewId, decision: approval(wire) })
    expect(await servers.first.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'Found it' }],
    })
  })

  test('a budget above ends the run at the bottom when it is used up, and all three fail', async () => {
    const servers = await nested({ wire, mode, deep: 'spend' })
    // The top and the middle use a call each before the bottom begins, for which one and a half are left.
    const budget = { maxCostUsd: 3.5 * CALL.costUsd }
    const { runId } = await servers.submit({ budget })
    const top = await servers.first.ended(runId)
    const { middle, deep } = await endsBelow(servers)
    // Where the bottom is not told of the limit, nobody above is told either what it has used.
    const status = carries.limits ? 'FAILED' : 'COMPLETED'
    expect([top, middle, deep].map((end) => end?.status)).toEqual([status, status, status])
    if (carries.limits) expect(costOf(deep)).toBeCloseTo(2 * CALL.costUsd)
  })
})

/** What lets the answer pass: in words; as the form of a review over MCP has it; where the review itself is. */
function approval(wire: Wire): ReviewAnswer {
  if (wire === 'peer') return { action: 'CONTINUE' }
  return { action: 'EDIT', input: wire === 'mcp' ? '{"decision":"CONTINUE"}' : 'approve' }
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`
