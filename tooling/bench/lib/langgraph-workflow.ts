/** Ten tasks as a LangGraph graph: each is a node that calls the scripted function. */
import { importPeer } from './peers.ts'
import { countOn, promptOf, type Layers } from './ten-tasks.ts'

import type { Runner } from './runners.ts'

/** Used parts of LangGraph. */
interface LangGraph {
  readonly START: string
  readonly END: string
  readonly StateGraph: new (state: unknown) => Graph
  readonly Annotation: {
    (channel: object): unknown
    Root(channels: object): unknown
  }
}

interface Graph {
  addNode(name: string, work: (state: State) => State): Graph
  addEdge(from: string | readonly string[], to: string): Graph
  compile(): { invoke(state: object): Promise<State> }
}

interface State {
  readonly answers: Readonly<Record<string, string>>
}

/** Returns the tasks of `layers` as a graph without a checkpointer. */
export async function langgraphWorkflow(layers: Layers): Promise<Runner> {
  const { Annotation, END, START, StateGraph } = await importPeer<LangGraph>('@langchain/langgraph')
  const answers = Annotation({
    reducer: (known: State['answers'], more: State['answers']) => ({ ...known, ...more }),
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
        .addEdge(before.length > 1 ? before : (before[0] ?? START), name)
    }
  }
  const [last = ''] = layers.at(-1) ?? []
  const compiled = graph.addEdge(last, END).compile()
  return {
    name: 'LangGraph StateGraph',
    async run() {
      const state = await compiled.invoke({ answers: {} })
      return state.answers[last] ?? ''
    },
  }
}
