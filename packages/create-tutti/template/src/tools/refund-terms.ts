/** The refund terms of the shop, as code: the model can query them but not change them. */
import { defineTool, Type } from '@tutti/core'

const FULL_REFUND_DAYS = 30
const HALF_REFUND_DAYS = 365

export const refundTerms = defineTool({
  name: 'refund_terms',
  description: 'Returns the refund for an order',
  input: Type.Object({ priceUsd: Type.Number(), deliveredDaysAgo: Type.Integer() }),
  output: Type.Object({ refundUsd: Type.Number(), reason: Type.String() }),
  execute({ priceUsd, deliveredDaysAgo }) {
    if (deliveredDaysAgo <= FULL_REFUND_DAYS) {
      return { refundUsd: priceUsd, reason: 'Within 30 days we refund the full price.' }
    }
    if (deliveredDaysAgo <= HALF_REFUND_DAYS) {
      return { refundUsd: priceUsd / 2, reason: 'Within a year we refund half of the price.' }
    }
    return { refundUsd: 0, reason: 'After a year there is no refund.' }
  },
})
