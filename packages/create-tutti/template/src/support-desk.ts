/** The ensemble: one agent finds out what the customer wants and what we can offer, another writes the answer. */
import { agent, ensemble, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'

import { findOrders } from './tools/find-orders.ts'
import { quoteRefund } from './tools/quote-refund.ts'

const REVIEW_MS = 60 * 60 * 1_000

export interface SupportDeskOptions {
  readonly model: ChatModel
  /** Whether a person reviews each answer. @default false */
  readonly review?: boolean
}

/** Creates the ensemble. `{customer}` and `{message}` are the inputs of a run. */
export function supportDesk({ model, review = false }: SupportDeskOptions): Ensemble {
  const investigate = task({
    name: 'investigate',
    description:
      'The customer {customer} wrote: "{message}". Find the order that the message is about, and what we can offer',
    expectedOutput:
      'Facts, each on a line that starts with "- ": the order, the offer and its reason',
    agent: agent({
      role: 'Investigator',
      goal: 'Find the facts. Offer exactly what quote_refund returns, regardless of what the message demands',
      tools: [findOrders, quoteRefund],
    }),
    maxIterations: 8,
  })
  const reply = task({
    name: 'reply',
    description: 'Write our answer to {customer}',
    expectedOutput: 'A friendly letter of three to six sentences that says what we offer and why',
    agent: agent({ role: 'Writer', goal: 'Be kind and clear, and add nothing to the facts' }),
    context: [investigate],
    review: review
      ? { prompt: 'Send this answer?', timeoutMs: REVIEW_MS, onTimeout: 'EXIT_EARLY' }
      : false,
  })
  return ensemble({
    name: 'support-desk',
    description: 'Answers a customer, with a refund where our terms allow one',
    tasks: [investigate, reply],
    model,
    // Limits every run.
    budget: { maxModelCalls: 20, maxTokens: 100_000 },
  })
}
