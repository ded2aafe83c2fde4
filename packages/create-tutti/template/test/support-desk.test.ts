/** Tests the ensemble in this process, without a server, network or key. */
import { scriptedModel, scriptedReviewer } from '@tutti/testing'
import { expect, it } from 'vitest'

import { ruleModel } from '../src/rule-model.ts'
import { supportDesk } from '../src/support-desk.ts'

const INPUTS = { customer: 'ada@example.com', message: 'My new kettle leaks.' }

it('The support desk offers what the terms allow', async () => {
  const model = ruleModel({ delayMs: 0 })
  const { status, output } = await supportDesk({ model }).run(INPUTS)
  expect(status).toBe('COMPLETED')
  expect(output).toContain('Copper kettle')
  expect(output).toContain('We offer 49 USD.')
})

it('The support desk reports an invalid tool call to the model, and continues', async () => {
  const model = scriptedModel([
    { toolCalls: [{ name: 'quote_refund', arguments: { order: 1001 } }] },
    { toolCalls: [{ name: 'quote_refund', arguments: { orderId: 'A-1001' } }] },
    '- We offer 49 USD.',
    'You get 49 USD back.',
  ])
  const { status, output } = await supportDesk({ model }).run(INPUTS)
  // The last messages before the second and the third model call.
  const [, second, third] = model.requests.map(({ messages }) => messages.at(-1)?.content)
  expect(second).toBe('Error: Invalid input for "quote_refund": /orderId is required')
  expect(third).toContain('"refundUsd":49')
  expect([status, output]).toEqual(['COMPLETED', 'You get 49 USD back.'])
})

it('The support desk lets a reviewer reject an answer and accept the next one', async () => {
  const model = ruleModel({ delayMs: 0 })
  const reviewer = scriptedReviewer([
    { action: 'REJECT', feedback: 'Say that we are sorry.' },
    'CONTINUE',
  ])
  const { output } = await supportDesk({ model, review: true }).run(INPUTS, { reviewer })
  expect(reviewer.reviews).toHaveLength(2)
  expect(output).toContain('Changed as requested: Say that we are sorry.')
})
