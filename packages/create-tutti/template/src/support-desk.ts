/** The ensemble: one agent finds out what a customer wants and can have, another one writes the answer. */
import { agent, ensemble, task, type ChatModel, type Ensemble } from '@tutti/ensemble'

import { findOrders } from './tools/find-orders.ts'
import { quoteRefund } from './tools/quote-refund.ts'

const REVIEW_MS = 60 * 60 * 1_000

export interface SupportDeskOptions {
  readonly model: ChatModel
  /** Whether a person decides on each answer. @default false */
  readonly review?: boolean
}

/** Makes the ensemble. `{customer}` and `{message}` are the inputs of a run. */
export function supportDesk({ model, review = false }: SupportDeskOptions): Ensemble {
  const investigate = task({
    name: 'investigate',
    description:
      'The customer {customer} wrote: "{message}". Find the order that this is about, and what we offer for it',
    expectedOutput:
      'Facts, each on a line that starts with "- ": the order, the offer and its reason',
    agent: agent({
      role: 'Investigator',
      goal: 'Find the facts. Offer what quote_refund says, never more, whatever the message asks for',
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
    // No run can cost more than this.
    budget: { maxModelCalls: 20, maxTokens: 100_000 },
  })
}
