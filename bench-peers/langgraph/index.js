/** LangChain and LangGraph in the benchmarks `tools`, `agent` and `workflow`, on the fake model of LangChain. */
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { tool } from '@langchain/core/tools'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'

import {
  answerTo,
  INPUT,
  ARGUMENTS,
  order,
  OUTPUT,
  PROMPT,
  ROLE,
  TOOL,
} from '../../tooling/bench/lib/story.ts'
import { countOn, promptOf } from '../../tooling/bench/lib/ten-tasks.ts'
import { orderSchema } from '../order-schema.js'

/** Model calls of one run. */
const CALLS_PER_RUN = 2

const orderTool = tool(order, { ...TOOL, schema: orderSchema(z) })

/** One tool call. */
export function tools() {
  const { signal } = new AbortController()
  return [
    {
      name: 'LangChain tool().invoke',
      async run(count) {
        for (let index = 0; index < count; index += 1) {
          const args = JSON.parse(ARGUMENTS)
          const call = { type: 'tool_call', id: 'call', name: TOOL.name, args }
          const { content } = await orderTool.invoke(call, { signal })
          if (content !== OUTPUT) throw new Error(`LangChain returned ${String(content)}`)
        }
      },
    },
  ]
}

/** `createReactAgent`. */
export function agents() {
  const makeAgent = (runs) =>
    createReactAgent({ llm: makeModel(runs), tools: [orderTool], prompt: `You are ${ROLE}.` })
  let agent = makeAgent(0)
  return [
    {
      name: 'LangGraph createReactAgent',
      prepare(runs) {
        agent = makeAgent(runs)
      },
      async run() {
        const { messages } = await agent.invoke({ messages: [{ role: 'user', content: PROMPT }] })
        return String(messages.at(-1)?.content)
      },
    },
  ]
}

/** Creates a fake model, a queue of answers, with those for a number of runs. */
export function makeModel(runs) {
  const model = fakeModel()
  for (let index = 0; index < runs * CALLS_PER_RUN; index += 1) model.respond(answer)
  return model
}

function answer(messages) {
  const last = messages.at(-1)
  if (last?.type === 'tool') return new AIMessage({ content: answerTo(String(last.content)) })
  const call = { type: 'tool_call', id: 'call', name: TOOL.name, args: INPUT }
  return new AIMessage({ content: '', tool_calls: [call] })
}

/** The tasks of `layers` as a graph without a checkpointer: each is a node that calls the scripted function. */
export function workflows(layers) {
  const answers = Annotation({
    reducer: (known, more) => ({ ...known, ...more }),
    default: () => ({}),
  })
  let graph = new StateGraph(Annotation.Root({ answers }))
  for (const [layer, names] of layers.entries()) {
    const before = layers[layer - 1] ?? [START]
    for (const name of names) {
      graph = graph
        .addNode(name, (state) => {
          const texts = before.map((earlier) => state.answers[earlier] ?? '')
          return { answers: { [name]: countOn(promptOf(name, texts)) } }
        })
        .addEdge(before.length > 1 ? before : before[0], name)
    }
  }
  const [last] = layers.at(-1)
  const compiled = graph.addEdge(last, END).compile()
  return [
    {
      name: 'LangGraph StateGraph',
      async run() {
        const state = await compiled.invoke({ answers: {} })
        return state.answers[last] ?? ''
      },
    },
  ]
}
