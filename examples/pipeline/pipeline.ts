/** Six tools that a model calls as one. The compiler checks the values between the steps. */
import { ensemble, task } from '@tutti/ensemble'
import { branch, isPartFailure, parallel, pipelineBuilder } from '@tutti/pipeline'
import { scriptedModel } from '@tutti/testing'

import { askShop, bargain, readOrder, writeQuote } from './tools.ts'

const closed = (): never => {
  throw new Error('We are closed on Sundays')
}

const quote = pipelineBuilder({ name: 'quote', description: 'Gets the best price for an order' })
  .step(readOrder) // returns { item, count }, which each shop accepts
  .step(
    parallel(
      {
        north: askShop('north', () => 12),
        south: askShop('south', () => 9.5),
        west: askShop('west', closed),
      },
      { name: 'ask_shops', errorStrategy: 'CONTINUE_ON_FAILURE' }, // the result of a failed shop is { error }
    ),
  )
  .adapter(({ structured }) => {
    const offers = Object.values(structured).flatMap((offer) =>
      isPartFailure(offer) ? [] : [offer],
    )
    return offers.reduce((best, offer) => (offer.total < best.total ? offer : best))
  })
  .step(branch({ when: ({ total }) => total > 100, yes: bargain })) // a small offer is passed on unchanged
  .adapter(({ structured: { shop, total } }) => `${total.toFixed(2)} EUR at ${shop}`)
  .step(writeQuote)
  .build()

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel([
  { toolCalls: [{ name: 'quote', arguments: { order: '40 red chairs' } }] },
  { toolCalls: [{ name: 'quote', arguments: { order: 'some lamps' } }] },
  { toolCalls: [{ name: 'quote', arguments: { order: '3 lamps' } }] },
  'The chairs are 342.00 EUR, the lamps 28.50 EUR.',
])

const buy = task({ description: 'Buy for the {room}', tools: [quote] })
const { status, output } = await ensemble({ name: 'buyers', tasks: [buy], model }).run(
  { room: 'hall' },
  {
    onEvent(event) {
      if (event.type !== 'tool_called') return
      const { toolCallId, outcome, toolResult } = event
      console.log(`${outcome} ${toolCallId}\n    ${toolResult}`)
    },
  },
)
console.log(`${model.requests.length} model calls in total`)
console.log(status, output)
