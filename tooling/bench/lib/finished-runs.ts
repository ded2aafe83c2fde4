/**
 * Runs in a separate process for `memory.ts`: executes runs of one ensemble and drops their results. Prints
 * the bytes of heap that each left, as JSON. Needs `--expose-gc`; its argument is the number of runs.
 */
import { builtPackage } from './built.ts'
import { orderModel } from './order-model.ts'
import { orderTool } from './order-tool.ts'
import { PROMPT } from './story.ts'
import { sized } from './form.ts'

type EnsembleDoor = typeof import('../../../packages/ensemble/src/index.ts')

/** Runs before the first measurement, to warm up code and caches. */
const WARM_UP_RUNS = sized(10_000, 100)

/** Number of concurrent runs. */
const WIDTH = 50

const count = Number(process.argv[2])
const { ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
const team = ensemble({
  name: 'shop',
  model: orderModel,
  tasks: [task({ name: 'order', description: PROMPT, tools: [orderTool] })],
})
await makeRuns(WARM_UP_RUNS)
const before = heapBytes()
await makeRuns(count)
console.log(JSON.stringify((heapBytes() - before) / count))

async function makeRuns(runs: number): Promise<void> {
  let left = runs
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const { status } = await team.run({}, { onEvent: () => {} })
      if (status !== 'COMPLETED') throw new Error(`A run ended ${status}`)
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, worker))
}

function heapBytes(): number {
  if (gc === undefined) throw new Error('Run this with --expose-gc')
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
