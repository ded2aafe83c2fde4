/** Tools in Python, in Node and behind HTTP in one ensemble; then the cancel of a tool and the processes it started. */
import { spawnSync } from 'node:child_process'

import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { isRunning, untilStopped } from './is-running.ts'
import { startService } from './service.ts'
import {
  countWords,
  createPageTool,
  createReviewsTool,
  createSlowTool,
  sentiment,
} from './tools.ts'

if (spawnSync('python3', ['--version']).status !== 0) {
  throw new Error('This example needs python3 on the PATH')
}

await using service = await startService()
await using reviews = createReviewsTool(service.url)
await using page = createPageTool(service.url)
await using never = createSlowTool(service.url)
await using _words = countWords

const REVIEWS = ['I love it!', 'It leaks.', 'Great tea, great color']

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel([
  { toolCalls: [{ name: 'reviews_of', arguments: { product: 'kettle' } }] },
  { toolCalls: [{ name: 'sentiment', arguments: { reviews: REVIEWS } }] },
  { toolCalls: [{ name: 'count_words', arguments: { text: REVIEWS[0] } }] },
  { toolCalls: [{ name: 'count_words', arguments: { text: REVIEWS[2] } }] },
  { toolCalls: [{ name: 'read_page', arguments: { page: `${service.url}/about` } }] },
  { toolCalls: [{ name: 'read_page', arguments: { page: 'http://169.254.169.254/secrets' } }] },
  'Two of three like the kettle, in few words.',
])
const judge = task({
  description: 'What do people say about the {product}?',
  tools: [reviews, sentiment, countWords, page],
})
const shop = ensemble({ name: 'shop', tasks: [judge], model })
const { status, output } = await shop.run(
  { product: 'kettle' },
  {
    onEvent(event) {
      if (event.type === 'tool_called') console.log(`${event.toolName}: ${event.toolResult}`)
    },
  },
)
console.log(status, output)

console.log('\n# A program that takes too long, and its helper')
const calls = [{ toolCalls: [{ name: 'slow', arguments: {} }] }]
const wait = task({ description: 'Wait for it', tools: [never], model: scriptedModel(calls) })
const run = ensemble({ name: 'waiting', tasks: [wait] }).start()
const pids = await service.started
console.log('running:', pids.map(isRunning))
run.cancel()
const { status: end } = await run.result
await untilStopped(pids)
console.log(end, 'running:', pids.map(isRunning))
