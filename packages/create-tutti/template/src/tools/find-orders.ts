/** A typed tool: `execute` receives only valid input; otherwise the model reads what is wrong. */
import { defineTool, Type } from '@tutti/core'

import { Order, ORDERS } from '../orders.ts'

export const findOrders = defineTool({
  name: 'find_orders',
  description:
    'Finds the orders of a customer, latest first. Returns an empty list when there are none.',
  input: Type.Object({
    email: Type.String({ format: 'email', description: 'Email address of the customer' }),
  }),
  output: Type.Array(Order),
  execute({ email }) {
    return ORDERS.filter((order) => order.email === email.toLowerCase()).toSorted(
      (a, b) => a.deliveredDaysAgo - b.deliveredDaysAgo,
    )
  },
})
