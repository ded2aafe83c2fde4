import { defineTextTool } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { fakeClock, scriptedModel } from '../src/index.ts'

const clock = fakeClock()
const search = defineTextTool({
  name: 'search',
  description: 'Searches the web',
  timeoutMs: 5_000,
  execute: () => new Promise(() => undefined), // hangs
})
const model = scriptedModel([
  { toolCalls: [{ name: 'search', arguments: { input: 'tutti' } }] },
  ({ messages }) => `Sorry. ${messages.at(-1)?.content ?? ''}`,
])
const find = task({ description: 'Find it', tools: [search], model })

const running = ensemble({ name: 'team', tasks: [find] }).run({}, { clock })
await clock.advance(5_000) // no test has to wait five seconds
console.log((await running).output)
console.log(`${model.requests.length} model calls in ${clock.elapsed()} ms`)
// Sorry. Error: Tool "search" timed out after 5000 ms
// 2 model calls in 5000 ms
