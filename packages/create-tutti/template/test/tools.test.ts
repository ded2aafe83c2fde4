/** Tests the tools without a model: calls them with JSON arguments, as a model would. */
import { runTool, type AgentTool } from '@tutti/core'
import { expect, it } from 'vitest'

import { findOrders } from '../src/tools/find-orders.ts'
import { quoteRefund } from '../src/tools/quote-refund.ts'

it('The tool for orders finds the orders of a customer, latest first', async () => {
  const { structured } = await call(findOrders, { email: 'Ada@example.com' })
  expect(structured).toMatchObject([{ id: 'A-1001' }, { id: 'A-0873' }])
})

it('The tool for orders returns an empty list for an unknown customer', async () => {
  const { success, structured } = await call(findOrders, { email: 'eve@example.com' })
  expect([success, structured]).toEqual([true, []])
})

it.each([
  ['A-1001', 49, 'Within 30 days we refund the full price.'],
  ['G-2002', 42.5, 'Within a year we refund half of the price.'],
  ['A-0873', 0, 'After a year there is no refund.'],
])(
  'The tool for refunds quotes a refund of %2$s USD for %1$s',
  async (orderId, refundUsd, reason) => {
    const { structured } = await call(quoteRefund, { orderId })
    expect(structured).toEqual({ refundUsd, reason })
  },
)

it('The tool for refunds reports an unknown order', async () => {
  const { success, errorMessage } = await call(quoteRefund, { orderId: 'A-9999' })
  expect(success).toBe(false)
  expect(errorMessage).toContain('There is no order A-9999')
})

async function call(tool: AgentTool, input: object) {
  const { result } = await runTool(tool, {
    id: 'call-1',
    name: tool.name,
    arguments: JSON.stringify(input),
  })
  return result
}
