/** A typed tool: what `execute` is given fits `input`, and the model is told when it does not. */
import { defineTool, Type } from '@tutti/core'

import { Order, ORDERS } from '../orders.ts'

export const findOrders = defineTool({
  name: 'find_orders',
  description:
    'Finds the orders of a customer, the latest first. Gives an empty list when there are none.',
  input: Type.Object({
    email: Type.String({ format: 'email', description: 'The address the customer wrote from' }),
  }),
  output: Type.Array(Order),
  execute({ email }) {
    return ORDERS.filter((order) => order.email === email.toLowerCase()).toSorted(
      (a, b) => a.deliveredDaysAgo - b.deliveredDaysAgo,
    )
  },
})
