/**
 * One agent with one typed tool call, side by side with its peers, in one process and in turns.
 *
 * How it is fair:
 * - The same tool for all: five fields, one body. The same script for all models: the call, then an
 *   answer that repeats what the tool gave. Every answer is checked, so nobody can leave the call out.
 * - Each is on the model that its own authors publish for tests, which answers at once. Ours and that of
 *   the AI SDK stream the answer in the same three pieces; of the AI SDK, which can also answer in one
 *   piece, both ways are measured. LangChain's fake model answers in one piece, for LangGraph and for us.
 * - Each works for a second before anything counts. Agents, tools and models are made before the clock
 *   starts, and anew for each round, since the models for tests keep all that they were asked. A run is
 *   one call of the public entry point.
 * - Ours makes all events of a run and hands them to a listener.
 * - No tracing, no telemetry, no store for anyone.
 */
import { aiSdkAgents } from './lib/ai-sdk-agent.ts'
import { ANSWER } from './lib/agent-story.ts'
import { langgraphAgent, tuttiLangchainAgent } from './lib/langchain-agents.ts'
import { race, type Race } from './lib/runners.ts'
import { isShort } from './lib/short.ts'
import { tuttiAgent } from './lib/tutti-agent.ts'

const WIDTHS = [1, 50]

const tutti = await tuttiAgent()
const { runners, claims } = isShort() ? { runners: [], claims: [] } : await peers()
for (const width of WIDTHS) {
  await race([tutti, ...runners], claims, {
    width,
    answer: ANSWER,
    calls: 100,
    rounds: 21,
    warmUpMs: 1_000,
  })
}

/** The peers, our agent on LangChain's fake model, which is one of theirs, and what is claimed of them. */
async function peers(): Promise<Race> {
  const [stream, generate] = await aiSdkAgents()
  const langgraph = await langgraphAgent()
  const onLangchain = await tuttiLangchainAgent()
  return {
    runners: [stream, generate, langgraph, onLangchain],
    claims: [
      { slower: stream, faster: tutti, times: 10 },
      { slower: generate, faster: tutti, times: 10 },
      { slower: langgraph, faster: tutti, times: 50 },
      { slower: langgraph, faster: onLangchain, times: 3 },
    ],
  }
}
