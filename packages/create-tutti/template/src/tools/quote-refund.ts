/**
 * A pipeline: two tools that the model calls as one. No model is asked between the steps, and the compiler
 * checks that what `readOrder` gives is what `refundTerms` takes.
 */
import { pipeline } from '@tutti/pipeline'

import { readOrder } from './read-order.ts'
import { refundTerms } from './refund-terms.ts'

export const quoteRefund = pipeline(
  { name: 'quote_refund', description: 'Says what we may pay back for an order, and why' },
  readOrder,
  refundTerms,
)
