/**
 * Ten tasks in sequence, and ten as a graph (1, 3, 3, 2, 1, each depending on the whole previous layer), compared
 * with Mastra workflows; LangGraph's StateGraph for information.
 *
 * How it is fair:
 * - A task does the same for all: one call of the same function, which adds up the answers of the previous tasks.
 *   The last answer shows whether every task ran with all its inputs.
 * - For the peers a task is that function in a step. For us it is an agent's whole task: a prompt, a streamed call
 *   of a scripted model that calls the function, and all its events, passed to a listener; and, as for the peers, a
 *   handler with its events.
 * - The peers have their defaults. Mastra is measured in a Mastra instance, as documented, with its in-memory
 *   store, and without an instance; logging and tracing are off.
 * - Each works for a second before measurements count. Tasks, steps and workflows are created before the clock
 *   starts, and again for each round where they retain runs. A run is a program's unit: Mastra's createRun and
 *   start, our run.
 */
import { langgraphWorkflow } from './lib/langgraph-workflow.ts'
import { mastraInstance, mastraWorkflow } from './lib/mastra-workflow.ts'
import { race, type Race, type Runner } from './lib/runners.ts'
import { hasPeers } from './lib/form.ts'
import { ANSWERS, SHAPES, type Layers } from './lib/ten-tasks.ts'
import { tuttiHandlers, tuttiWorkflow } from './lib/tutti-workflow.ts'

for (const shape of ['sequence', 'graph'] as const) {
  const layers = SHAPES[shape]
  const tutti = await tuttiWorkflow(layers)
  const handlers = await tuttiHandlers(layers)
  const { runners, claims } = hasPeers()
    ? await peers(layers, { tutti, handlers })
    : { runners: [], claims: [] }
  await race([tutti, handlers, ...runners], claims, {
    title: `Ten tasks in a ${shape}`,
    widths: [1, 50],
    answer: ANSWERS[shape],
    calls: 100,
    rounds: 21,
    warmUpMs: 1_000,
  })
}

/** The peers on the same tasks, and the claims about them. */
async function peers(
  layers: Layers,
  { tutti, handlers }: { readonly tutti: Runner; readonly handlers: Runner },
): Promise<Race> {
  const mastra = await mastraInstance(layers)
  const alone = await mastraWorkflow(layers)
  const langgraph = await langgraphWorkflow(layers)
  const claims = [mastra, alone].flatMap((slower) => [
    { slower, faster: tutti, times: 3 },
    { slower, faster: handlers, times: 5 },
  ])
  return { runners: [mastra, alone, langgraph], claims }
}
