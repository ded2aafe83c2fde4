/**
 * Ten tasks in sequence, and ten as a graph (1, 3, 3, 2, 1, each depending on the whole previous layer), compared
 * with Mastra workflows; LangGraph's StateGraph for information.
 *
 * How it is fair:
 * - A task does the same for all: one call of the same function, which adds up the answers of the previous tasks.
 *   The last answer shows whether every task ran with all its inputs.
 * - A task of code is that function in a step, and for us in a handler with its events. A task that calls a model is
 *   an agent whose scripted model calls the function; we stream its reply, and pass all events to a listener, and
 *   Mastra generates it, which is its faster way. LangGraph's tasks are of code.
 * - The peers have their defaults. Mastra is measured in a Mastra instance, as documented, with its in-memory
 *   store, and without an instance; logging and tracing are off.
 * - Each works for a second before measurements count. Tasks, steps and workflows are created before the clock
 *   starts, and again for each round where they retain runs. A run is a program's unit: Mastra's createRun and
 *   start, our run.
 */
import { importPeer } from './lib/peers.ts'
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
  const [agents, mastra, alone] = (await importPeer('mastra')).workflows(layers)
  const [langgraph] = (await importPeer('langgraph')).workflows(layers)
  const claims = [
    { slower: agents, faster: tutti, times: 3 },
    { slower: mastra, faster: handlers, times: 5 },
    { slower: alone, faster: handlers, times: 5 },
  ]
  return { runners: [agents, mastra, alone, langgraph], claims }
}
