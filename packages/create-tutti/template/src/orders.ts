/** The orders of a small shop. A real shop would query a database here. */
import { Type, type Static } from '@tutti/core'

/** Schema of an order. Tools validate with it, and the type is derived from it. */
export const Order = Type.Object({
  id: Type.String(),
  email: Type.String(),
  item: Type.String(),
  priceUsd: Type.Number(),
  deliveredDaysAgo: Type.Integer(),
})

export type Order = Static<typeof Order>

export const ORDERS: readonly Order[] = [
  {
    id: 'A-1001',
    email: 'ada@example.com',
    item: 'Copper kettle',
    priceUsd: 49,
    deliveredDaysAgo: 6,
  },
  {
    id: 'A-0873',
    email: 'ada@example.com',
    item: 'Bread knife',
    priceUsd: 32,
    deliveredDaysAgo: 400,
  },
  {
    id: 'G-2002',
    email: 'grace@example.com',
    item: 'Desk lamp',
    priceUsd: 85,
    deliveredDaysAgo: 90,
  },
]
