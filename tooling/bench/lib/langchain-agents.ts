/**
 * Agents on the fake model that LangChain publishes for tests: LangGraph's, and ours through the adapter.
 *
 * Both use the fake model of the peers' copy of LangChain's core. The adapter creates its messages with its own
 * copy, of the same version.
 */
import { answerTo, PROMPT, ROLE } from './agent-story.ts'
import { builtPackage } from './built.ts'
import { ORDER, order, ORDER_ARGUMENTS, orderZodSchema } from './order-tool.ts'
import { importPeer } from './peers.ts'
import { tuttiAgentOn } from './tutti-agent.ts'

import type { Runner } from './runners.ts'

type LangchainDoor = typeof import('../../../packages/langchain/src/index.ts')
type LangchainSource = Parameters<LangchainDoor['langchainModel']>[0]
type LangchainModel = Exclude<LangchainSource, string | (() => unknown)>

interface LangchainMessage {
  readonly type: string
  readonly content: unknown
}

interface LangGraph {
  createReactAgent(fields: object): ReactAgent
}

interface ReactAgent {
  invoke(state: object): Promise<{ readonly messages: readonly LangchainMessage[] }>
}

/** Used parts of LangChain's fake model: a queue of answers, one per call. */
type FakeModel = LangchainModel & {
  respond(answer: (messages: readonly LangchainMessage[]) => unknown): void
}

/** Model calls of one run. */
const CALLS_PER_RUN = 2

/** Returns LangGraph's `createReactAgent`. */
export async function langgraphAgent(): Promise<Runner> {
  const makeModel = await fakeModels()
  const { tool } = await importPeer<{ tool(body: unknown, fields: object): unknown }>(
    '@langchain/core/tools',
  )
  const { createReactAgent } = await importPeer<LangGraph>('@langchain/langgraph/prebuilt')
  const tools = [tool(order, { ...ORDER, schema: await orderZodSchema() })]
  const makeAgent = (runs: number): ReactAgent =>
    createReactAgent({ llm: makeModel(runs), tools, prompt: `You are ${ROLE}.` })
  let agent = makeAgent(0)
  return {
    name: 'LangGraph createReactAgent',
    prepare(runs) {
      agent = makeAgent(runs)
    },
    async run() {
      const { messages } = await agent.invoke({ messages: [{ role: 'user', content: PROMPT }] })
      return String(messages.at(-1)?.content)
    },
  }
}

/** Returns our agent on a model of LangChain. */
export async function tuttiLangchainAgent(): Promise<Runner> {
  const { langchainModel } = await builtPackage<LangchainDoor>('langchain')
  const makeModel = await fakeModels()
  return tuttiAgentOn((runs) => {
    const model = makeModel(runs)
    return langchainModel(() => model, { provider: 'fake', name: 'model' })
  }, "Tutti on LangChain's model")
}

/** Returns a function that creates a fake model with the answers for a number of runs. */
async function fakeModels(): Promise<(runs: number) => FakeModel> {
  const { fakeModel } = await importPeer<{ fakeModel(): FakeModel }>('@langchain/core/testing')
  const { AIMessage } = await importPeer<{ AIMessage: new (fields: object) => unknown }>(
    '@langchain/core/messages',
  )
  const answer = (messages: readonly LangchainMessage[]): unknown => {
    const last = messages.at(-1)
    if (last?.type === 'tool') return new AIMessage({ content: answerTo(String(last.content)) })
    const call = { type: 'tool_call', id: 'call', name: ORDER.name }
    return new AIMessage({
      content: '',
      tool_calls: [{ ...call, args: JSON.parse(ORDER_ARGUMENTS) }],
    })
  }
  return (runs) => {
    const model = fakeModel()
    for (let index = 0; index < runs * CALLS_PER_RUN; index += 1) model.respond(answer)
    return model
  }
}
