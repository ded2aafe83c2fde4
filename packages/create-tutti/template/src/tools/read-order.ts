/** A typed tool that can fail: its caller receives the message. */
import { defineTool, ToolResult, Type } from '@tutti/core'

import { Order, ORDERS } from '../orders.ts'

export const readOrder = defineTool({
  name: 'read_order',
  description: 'Reads one order',
  input: Type.Object({
    orderId: Type.String({ pattern: '^[A-Z]-\\d{4}$', description: 'Such as A-1001' }),
  }),
  output: Order,
  execute({ orderId }) {
    const order = ORDERS.find(({ id }) => id === orderId)
    return (
      order ?? ToolResult.failure(`There is no order ${orderId}. Use find_orders to find the ids`)
    )
  },
})
