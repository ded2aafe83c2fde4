/**
 * Prints the bytes of heap that each finished run with a tool call leaves to the next minor collection. Needs
 * `--expose-gc`, and a separate process: V8 decides by what other code has done before.
 */
import { defineTool, Type } from '@tutti/core'

import { agent, ensemble, task } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

/** Enough for V8 to optimize the code of a run, which changes what it keeps. */
const WARM_UP_RUNS = 2_000

const RUNS = 1_000

const order = defineTool({
  name: 'order',
  description: 'Orders goods',
  input: Type.Object({}),
  execute: () => 'Ordered',
})

const team = ensemble({
  name: 'shop',
  model: scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done' : { toolCalls: [{ name: 'order', arguments: {} }] },
    { maxRequests: 0 },
  ),
  tasks: [
    task({
      description: 'Order goods',
      agent: agent({ role: 'Buyer', goal: 'Goods that arrive', tools: [order] }),
    }),
  ],
})

await run(WARM_UP_RUNS)
const before = measureHeap()
await run(RUNS)
console.log((measureHeap() - before) / RUNS)

async function run(runs: number): Promise<void> {
  for (let made = 0; made < runs; made += 1) await team.run({}, { onEvent: () => undefined })
}

/** Collects young objects, and returns the size of the rest in bytes. */
function measureHeap(): number {
  if (gc === undefined) throw new Error('Run this with --expose-gc')
  gc({ type: 'minor' })
  return process.memoryUsage().heapUsed
}
