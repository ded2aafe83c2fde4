/**
 * A pipeline: two tools that the model calls as one. The steps need no model call in between, and the compiler checks
 * that the output of `readOrder` matches the input of `refundTerms`.
 */
import { pipeline } from '@tutti/pipeline'

import { readOrder } from './read-order.ts'
import { refundTerms } from './refund-terms.ts'

export const quoteRefund = pipeline([readOrder, refundTerms], {
  name: 'quote_refund',
  description: 'Returns the refund that we can offer for an order, and the reason',
})
