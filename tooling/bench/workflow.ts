/**
 * Ten tasks one after the other, and ten as a graph (1, 3, 3, 2, 1, each building on the whole layer
 * before), side by side with Mastra workflows; LangGraph's StateGraph for information.
 *
 * How it is fair:
 * - A task does the same for all: one call of the same function, which adds up what the tasks before
 *   answered and says so. The last answer tells whether every task ran and was given what it builds on.
 * - For the peers a task is that function in a step. For us it is an agent's whole task: a prompt, a
 *   streamed call of a scripted model that asks the function, and all its events, handed to a listener;
 *   and, as for the peers, a handler, with its events.
 * - The peers have their defaults. Mastra is measured in a Mastra instance, as its documentation has it,
 *   with the store in memory that this brings, and by itself, with none; nobody logs or traces.
 * - Each works for a second before anything counts. Tasks, steps and workflows are made before the clock
 *   starts, anew for each round where they keep what was run. A run is what a program does for one:
 *   Mastra's createRun and start, our run.
 */
import { langgraphWorkflow } from './lib/langgraph-workflow.ts'
import { mastraInstance, mastraWorkflow } from './lib/mastra-workflow.ts'
import { race, type Race, type Runner } from './lib/runners.ts'
import { isShort } from './lib/short.ts'
import { ANSWERS, SHAPES, type Layers } from './lib/ten-tasks.ts'
import { tuttiHandlers, tuttiWorkflow } from './lib/tutti-workflow.ts'

const WIDTHS = [1, 50]

for (const shape of ['sequence', 'graph'] as const) {
  console.log(`## ${shape} of ten tasks`)
  const layers = SHAPES[shape]
  const tutti = await tuttiWorkflow(layers)
  const handlers = await tuttiHandlers(layers)
  const own = [tutti, handlers]
  const { runners, claims } = isShort() ? { runners: [], claims: [] } : await peers(layers, own)
  for (const width of WIDTHS) {
    await race([...own, ...runners], claims, {
      width,
      answer: ANSWERS[shape],
      calls: 100,
      rounds: 21,
      warmUpMs: 1_000,
    })
  }
}

/** The peers on the same tasks, and what is claimed of them. */
async function peers(layers: Layers, own: readonly Runner[]): Promise<Race> {
  const mastra = await mastraInstance(layers)
  const alone = await mastraWorkflow(layers)
  const langgraph = await langgraphWorkflow(layers)
  const claims = own.flatMap((faster) =>
    [mastra, alone].map((slower) => ({ slower, faster, times: 5 })),
  )
  return { runners: [mastra, alone, langgraph], claims }
}
