import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { expect, test } from 'vitest'

import { UsageLedger } from './usage.ts'

import type { A2aStreamItem } from './wire.ts'

type JsonObject = Readonly<Record<string, unknown>>

const extension = (fields: JsonObject): JsonObject => ({ [USAGE_EXTENSION]: fields })
const status = (metadata: JsonObject): A2aStreamItem => ({
  statusUpdate: { taskId: 't', metadata },
})
const snapshot = (metadata: JsonObject): A2aStreamItem => ({ task: { id: 't', metadata } })

test('The usage reader ignores items without valid usage', () => {
  const ledger = new UsageLedger()
  expect(ledger.add(status({}), 't')).toBeUndefined()
  expect(ledger.add(status({ cost_usd: '1' }), 't')).toBeUndefined()
  expect(ledger.add(status({ cost_usd: -1, [USAGE_EXTENSION]: 7 }), 't')).toBeUndefined()
  expect(ledger.add(status({ cost_usd: Number.NaN }), 't')).toBeUndefined()
})

test('The usage reader adds up cost increments, plain or in the extension', () => {
  const ledger = new UsageLedger()
  expect(ledger.add(status({ cost_usd: 0.25 }), 't')).toEqual({ totalCostUsd: 0.25 })
  expect(ledger.add(status(extension({ cost_usd: 0.5 })), 't')).toEqual({ totalCostUsd: 0.75 })
})

test('[AGENT-U2] The usage reader prefers totals to increments and never decreases', () => {
  const ledger = new UsageLedger()
  ledger.add(status({ cost_usd: 0.25 }), 't')
  const total = extension({ cost_usd: 0.5, total_cost_usd: 1, total_tokens: 10 })
  expect(ledger.add(status(total), 't')).toEqual({ totalCostUsd: 1, totalTokens: 10 })
  const less = extension({ total_cost_usd: 0.5, total_tokens: 5 })
  expect(ledger.add(status(less), 't')).toEqual({ totalCostUsd: 1, totalTokens: 10 })
})

test('[AGENT-U3] The usage reader counts the increment in a snapshot only when no other usage is known', () => {
  const fresh = new UsageLedger()
  expect(fresh.add(snapshot({ cost_usd: 0.25 }), 't')).toEqual({ totalCostUsd: 0.25 })
  expect(fresh.add(snapshot({ cost_usd: 0.25 }), 't')).toEqual({ totalCostUsd: 0.25 })
  const known = new UsageLedger()
  known.add(status({ cost_usd: 0.5 }), 't')
  expect(known.add(snapshot({ cost_usd: 0.5 }), 't')).toEqual({ totalCostUsd: 0.5 })
  expect(known.add(snapshot(extension({ total_cost_usd: 2 })), 't')).toEqual({ totalCostUsd: 2 })
})

test('[AGENT-U1] The usage reader adds up the totals of the tasks of a conversation', () => {
  const ledger = new UsageLedger()
  ledger.add(status(extension({ total_cost_usd: 1, total_tokens: 10 })), 'first')
  expect(ledger.add(status(extension({ total_cost_usd: 0.5 })), 'second')).toEqual({
    totalCostUsd: 1.5,
    totalTokens: 10,
  })
})

test('The usage reader reads usage from every place where the protocol allows metadata', () => {
  const metadata = { cost_usd: 1 }
  const places: readonly A2aStreamItem[] = [
    { task: { metadata } },
    { task: { status: { message: { metadata } } } },
    { message: { metadata } },
    { statusUpdate: { metadata } },
    { statusUpdate: { status: { message: { metadata } } } },
    { artifactUpdate: { metadata } },
    { artifactUpdate: { artifact: { metadata } } },
  ]
  for (const item of places) {
    expect(new UsageLedger().add(item, 't')).toEqual({ totalCostUsd: 1 })
  }
})
