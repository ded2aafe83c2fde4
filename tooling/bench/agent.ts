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
 */
import { ANSWER } from './lib/story.ts'
import { importPeer } from './lib/peers.ts'
import { race, type Race } from './lib/runners.ts'
import { hasPeers } from './lib/form.ts'
import { tuttiAgent, tuttiLangchainAgent } from './lib/tutti-agent.ts'

const tutti = await tuttiAgent()
const { runners, claims } = hasPeers() ? await peers() : { runners: [], claims: [] }
await race([tutti, ...runners], claims, {
  title: 'One agent with one typed tool call',
  widths: [1, 50],
  answer: ANSWER,
  calls: 100,
  rounds: 21,
  warmUpMs: 1_000,
})

/** The peers, our agent on LangChain's fake model, and the claims about them. */
async function peers(): Promise<Race> {
  const { agents, makeModel } = await importPeer('langgraph')
  const [stream, generate] = (await importPeer('ai-sdk')).agents()
  const [langgraph] = agents()
  const onLangchain = await tuttiLangchainAgent(makeModel)
  return {
    runners: [stream, generate, langgraph, onLangchain],
    claims: [
      { slower: stream, faster: tutti, times: 10 },
      { slower: generate, faster: tutti, times: 10 },
      { slower: langgraph, faster: tutti, times: 60 },
      { slower: langgraph, faster: onLangchain, times: 3 },
    ],
  }
}
