/** The terms of the shop, as code: the model asks for them and cannot change them. */
import { defineTool, Type } from '@tutti/core'

const FULL_REFUND_DAYS = 30
const HALF_REFUND_DAYS = 365

export const refundTerms = defineTool({
  name: 'refund_terms',
  description: 'Says what we pay back for an order',
  input: Type.Object({ priceUsd: Type.Number(), deliveredDaysAgo: Type.Integer() }),
  output: Type.Object({ refundUsd: Type.Number(), reason: Type.String() }),
  execute({ priceUsd, deliveredDaysAgo }) {
    if (deliveredDaysAgo <= FULL_REFUND_DAYS) {
      return { refundUsd: priceUsd, reason: 'Within 30 days we pay back the whole price.' }
    }
    if (deliveredDaysAgo <= HALF_REFUND_DAYS) {
      return { refundUsd: priceUsd / 2, reason: 'Within a year we pay back half of the price.' }
    }
    return { refundUsd: 0, reason: 'After a year we pay nothing back.' }
  },
})
