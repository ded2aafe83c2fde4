/** Ten tasks as a Mastra workflow: each is a step that calls the scripted function, or an agent whose model does. */
import { importPeer } from './peers.ts'
import { countOn, promptOf, type Layers } from './ten-tasks.ts'

import type { Runner } from './runners.ts'

/** Used parts of Mastra. */
interface MastraWorkflows {
  createStep(fields: object): unknown
  createWorkflow(fields: object): Workflow
}

interface MastraAgents {
  readonly Agent: new (settings: object) => MastraAgent
}

interface MastraAgent {
  generate(prompt: string): Promise<Answer>
}

interface MastraDoor {
  readonly Mastra: new (settings: object) => { getWorkflow(name: string): Workflow }
}

interface Workflow {
  then(step: unknown): Workflow
  parallel(steps: readonly unknown[]): Workflow
  commit(): Workflow
  createRun(): Promise<{
    start(call: object): Promise<{ readonly status: string; readonly result: Answer }>
  }>
}

interface Answer {
  readonly text: string
}

type Input = Answer | Readonly<Record<string, Answer>>

interface Zod {
  readonly z: { object(fields: object): unknown; string(): unknown }
}

/** Returns a task's answer to its prompt. */
type Work = (prompt: string) => Promise<Answer>

/** A step as code. */
const countInCode: Work = (prompt) => Promise.resolve({ text: countOn(prompt) })

/** Returns the tasks of `layers` as a separate workflow with default options, without store and logger. */
export async function mastraWorkflow(layers: Layers): Promise<Runner> {
  const parts = await importParts()
  return runnerOf('Mastra, tasks of code, the workflow by itself', () =>
    makeWorkflow(layers, countInCode, parts),
  )
}

/** Returns the same workflow in a Mastra instance, as documented, with its default store and without logger. */
export async function mastraInstance(layers: Layers): Promise<Runner> {
  const { Mastra } = await importPeer<MastraDoor>('@mastra/core')
  const parts = await importParts()
  return runnerOf('Mastra, tasks of code', () => {
    const workflows = { count: makeWorkflow(layers, countInCode, parts) }
    return new Mastra({ workflows, logger: false }).getWorkflow('count')
  })
}

/** Returns the workflow in a Mastra instance with an agent whose model each step calls without streaming, the faster way. */
export async function mastraAgents(layers: Layers): Promise<Runner> {
  const { Mastra } = await importPeer<MastraDoor>('@mastra/core')
  const { Agent } = await importPeer<MastraAgents>('@mastra/core/agent')
  const parts = await importParts()
  return runnerOf('Mastra, tasks that call a model', () => {
    const agent = new Agent({
      id: 'counter',
      name: 'counter',
      instructions: 'You count.',
      model: countingModel(),
    })
    const workflows = { count: makeWorkflow(layers, (prompt) => agent.generate(prompt), parts) }
    return new Mastra({ agents: { counter: agent }, workflows, logger: false }).getWorkflow('count')
  })
}

/** Returns a model that counts, in version 3 of the AI SDK's interface of models, which Mastra takes. */
function countingModel(): object {
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: ({ prompt }: ModelCall) =>
      Promise.resolve({
        content: [{ type: 'text', text: countOn(prompt.at(-1)?.content[0]?.text ?? '') }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: USAGE,
        warnings: [],
      }),
  }
}

interface ModelCall {
  readonly prompt: readonly { readonly content: readonly { readonly text: string }[] }[]
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function runnerOf(name: string, make: () => Workflow): Runner {
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

type Parts = MastraWorkflows & Zod

async function importParts(): Promise<Parts> {
  const { createStep, createWorkflow } = await importPeer<MastraWorkflows>('@mastra/core/workflows')
  const { z } = await importPeer<Zod>('zod')
  return { createStep, createWorkflow, z }
}

/** Not a promise of a workflow: a workflow has a `then`, which awaiting it would call. */
function makeWorkflow(
  layers: Layers,
  work: Work,
  { createStep, createWorkflow, z }: Parts,
): Workflow {
  const answer = z.object({ text: z.string() })
  const inputOf = (layer: number): unknown => {
    const names = layers[layer - 1] ?? []
    return names.length > 1 ? z.object(Object.fromEntries(names.map((n) => [n, answer]))) : answer
  }
  const fields = { id: 'count', inputSchema: answer, outputSchema: answer }
  let workflow = createWorkflow(fields)
  for (const [layer, names] of layers.entries()) {
    const steps = names.map((name) =>
      createStep({
        id: name,
        inputSchema: inputOf(layer),
        outputSchema: answer,
        execute: async ({ inputData }: { inputData: Input }) => {
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
function textsOf(input: Input): readonly string[] {
  return isAnswer(input) ? [input.text] : Object.values(input).map(({ text }) => text)
}

function isAnswer(input: Input): input is Answer {
  return typeof input.text === 'string'
}
