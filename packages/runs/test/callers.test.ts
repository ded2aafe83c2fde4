/** Settings of callers: budget, trace and memo. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, priceList, task } from '@tutti/ensemble'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { STORES } from './stores.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

/** Each model call reads 1 token, which costs 1 US dollar. */
const prices = priceList({
  'scripted:model': { inputPerMillion: 1_000_000, outputPerMillion: 0 },
})

function service(
  storage: RunStorage,
  seen: unknown[] = [],
  options: RunServiceOptions = { prices },
): RunService {
  const look = defineTool({
    name: 'look',
    description: 'Looks',
    input: Type.Object({}),
    execute(_, context) {
      seen.push([context.traceparent, context.remaining().costUsd])
      return 'seen'
    },
  })
  const usage = { inputTokens: 1, outputTokens: 0 }
  const model = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done', usage }
        : { toolCalls: [{ name: 'look', arguments: {} }], usage },
    // A model without a price.
    { provider: 'scripted' },
  )
  const watch = task({ name: 'watch', description: 'Watch', tools: [look] })
  return createRunService(storage, [ensemble({ name: 'watch', tasks: [watch], model })], options)
}

describe.each(Object.entries(STORES))('on the store "%s"', (_, place) => {
  it('A run has the trace and the budget of its caller, also in another process', async () => {
    await using where = await place()
    const asking = service(await where.open())
    const { runId } = await asking.submit({ traceparent, budget: { maxCostUsd: 5 } })
    await asking.close({ drainTimeoutMs: 0 })
    const seen: unknown[] = []
    const executing = service(await where.open(), seen)
    await executing.start()
    await until('it is done', async () => (await executing.record(runId))?.status === 'COMPLETED')
    expect(seen).toEqual([[expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`), 4]])
    await executing.close({ drainTimeoutMs: 0 })
  })

  it('A run fails with the reason when its budget is used up', async () => {
    await using where = await place()
    const runs = service(await where.open())
    await runs.start()
    const { runId } = await runs.submit({ budget: { maxTokens: 1 } })
    await until('it failed', async () => (await runs.record(runId))?.status === 'FAILED')
    expect((await runs.record(runId))?.error).toContain('maxTokens is 1, used 1')
    await runs.close({ drainTimeoutMs: 0 })
  })

  it('A cost limit that cannot be enforced is refused, or dropped when it is an allowance', async () => {
    await using where = await place()
    const runs = service(await where.open(), [], {})
    const budget = { maxCostUsd: 1 }
    await expect(runs.submit({ budget })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: {
        problems: [
          {
            path: '/budget/maxCostUsd',
            message: 'cannot be enforced: no price is known for scripted:model',
          },
        ],
      },
    })
    await runs.start()
    const { runId } = await runs.submit({ budget, isAllowance: true })
    await until('it is done', async () => (await runs.record(runId))?.status === 'COMPLETED')
    await runs.close({ drainTimeoutMs: 0 })
  })

  it('A memo is stored with the run', async () => {
    await using where = await place()
    const memo = { message: { parts: [{ text: 'ü' }] } }
    const runs = service(await where.open())
    const { runId } = await runs.submit({ memo })
    expect((await runs.record(runId))?.request?.memo).toEqual(memo)
    await runs.close({ drainTimeoutMs: 0 })
  })

  it('A repeated submission may have another trace and memo, but not another budget', async () => {
    await using where = await place()
    const runs = service(await where.open())
    const submitted = { idempotencyKey: 'k', budget: { maxTokens: 9 } }
    const { runId } = await runs.submit({ ...submitted, traceparent, memo: { at: 1 } })
    expect((await runs.submit({ ...submitted, memo: { at: 2 } })).runId).toBe(runId)
    await expect(
      runs.submit({ idempotencyKey: 'k', budget: { maxTokens: 8 } }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    await runs.close({ drainTimeoutMs: 0 })
  })
})
