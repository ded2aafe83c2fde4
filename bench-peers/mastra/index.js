/** Mastra in the benchmark `workflow`: each task is a step that calls the scripted function, or an agent whose model does. */
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { z } from 'zod'

import { countOn, promptOf } from '../../tooling/bench/lib/ten-tasks.ts'
import { scriptedModel } from '../scripted-model.js'

/**
 * The tasks of `layers` in a Mastra instance, as documented, with its default store and without logger, as an agent
 * whose model each step calls without streaming, the faster way, and as code; then as code in a separate workflow with
 * default options.
 */
export function workflows(layers) {
  const code = () => makeWorkflow(layers, async (prompt) => ({ text: countOn(prompt) }))
  const inMastra = (count, agents = {}) =>
    new Mastra({ agents, workflows: { count }, logger: false }).getWorkflow('count')
  return [
    runnerOf('Mastra, tasks that call a model', () => {
      const counter = new Agent({
        id: 'counter',
        name: 'counter',
        instructions: 'You count.',
        model: scriptedModel((prompt) => countOn(prompt.at(-1)?.content[0]?.text ?? '')),
      })
      const workflow = makeWorkflow(layers, (prompt) => counter.generate(prompt))
      return inMastra(workflow, { counter })
    }),
    runnerOf('Mastra, tasks of code', () => inMastra(code())),
    runnerOf('Mastra, tasks of code, the workflow by itself', code),
  ]
}

function runnerOf(name, make) {
  let workflow = make()
  return {
    name,
    prepare() {
      workflow = make()
    },
    async run() {
      const run = await workflow.createRun()
      const { status, result } = await run.start({ inputData: { text: '' } })
      return status === 'success' ? result.text : status
    },
  }
}

/** Not a promise of a workflow: a workflow has a `then`, which awaiting it would call. */
function makeWorkflow(layers, work) {
  const answer = z.object({ text: z.string() })
  const inputOf = (layer) => {
    const names = layers[layer - 1] ?? []
    return names.length > 1 ? z.object(Object.fromEntries(names.map((n) => [n, answer]))) : answer
  }
  let workflow = createWorkflow({ id: 'count', inputSchema: answer, outputSchema: answer })
  for (const [layer, names] of layers.entries()) {
    const steps = names.map((name) =>
      createStep({
        id: name,
        inputSchema: inputOf(layer),
        outputSchema: answer,
        async execute({ inputData }) {
          const { text } = await work(promptOf(name, textsOf(inputData)))
          return { text }
        },
      }),
    )
    workflow = steps.length > 1 ? workflow.parallel(steps) : workflow.then(steps[0])
  }
  return workflow.commit()
}

/** Returns the answer of the previous step, or those of the previous steps by name. */
function textsOf(input) {
  if (typeof input.text === 'string') return [input.text]
  return Object.values(input).map(({ text }) => text)
}
