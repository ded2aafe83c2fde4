/**
 * One agent with one typed tool call, compared with its peers, in one process and in turns.
 *
 * How it is fair:
 * - The same tool for all: five fields, one body. The same script for all models: the call, then an answer that
 *   repeats the tool's output. Every answer is checked, so that the call cannot be omitted.
 * - Each product uses the test model that its authors publish, which answers immediately. Ours and that of the AI
 *   SDK stream the answer in the same three pieces. The AI SDK can also answer without streaming; both ways are
 *   measured. LangChain's fake model answers without streaming, for LangGraph and for us.
 * - Each product works for a second before measurements count. Agents, tools and models are created before the
 *   clock starts, and again for each round, because the test models record all requests. A run is one call of the
 *   public entry point.
 * - Ours creates all events of a run and passes them to a listener.
 * - Tracing, telemetry and stores are off for all.
 *
 * The goals are costs of our own run. A model call takes a hundred milliseconds and more, so the ratios to peers are
 * printed, but they are not goals.
 */
import { ANSWER } from './lib/story.ts'
import { importPeer } from './lib/peers.ts'
import { race, type Runner } from './lib/runners.ts'
import { hasPeers } from './lib/form.ts'
import { printRunCost } from './lib/run-cost.ts'
import { tuttiAgent, tuttiLangchainAgent } from './lib/tutti-agent.ts'

const TITLE = 'One agent with one typed tool call'

const tutti = await tuttiAgent()
await printRunCost(TITLE, tutti, { us: 25, allocatedKb: 50 })
await race([tutti, ...(hasPeers() ? await makePeers() : [])], [], {
  title: TITLE,
  widths: [1, 50],
  answer: ANSWER,
  calls: 100,
  rounds: 21,
  warmUpMs: 1_000,
})

/** Returns the peers, and our agent on LangChain's fake model. */
async function makePeers(): Promise<readonly Runner[]> {
  const { agents, makeModel } = await importPeer('langgraph')
  const [stream, generate] = (await importPeer('ai-sdk')).agents()
  const [langgraph] = agents()
  return [stream, generate, langgraph, await tuttiLangchainAgent(makeModel)]
}
