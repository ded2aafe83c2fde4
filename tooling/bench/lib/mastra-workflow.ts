/** Ten tasks as a Mastra workflow: each is a step that calls the scripted function. */
import { importPeer } from './peers.ts'
import { countOn, promptOf, type Layers } from './ten-tasks.ts'

import type { Runner } from './runners.ts'

/** Used parts of Mastra. */
interface MastraWorkflows {
  createStep(fields: object): unknown
  createWorkflow(fields: object): Workflow
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

/** Returns the tasks of `layers` as a separate workflow with default options, without store and logger. */
export async function mastraWorkflow(layers: Layers): Promise<Runner> {
  const parts = await importParts()
  return runnerOf('Mastra, the workflow by itself', () => makeWorkflow(layers, parts))
}

/** Returns the same workflow in a Mastra instance, as documented, with its default store and without logger. */
export async function mastraInstance(layers: Layers): Promise<Runner> {
  const { Mastra } = await importPeer<MastraDoor>('@mastra/core')
  const parts = await importParts()
  return runnerOf('Mastra', () => {
    const workflows = { count: makeWorkflow(layers, parts) }
    return new Mastra({ workflows, logger: false }).getWorkflow('count')
  })
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
function makeWorkflow(layers: Layers, { createStep, createWorkflow, z }: Parts): Workflow {
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
        execute: ({ inputData }: { inputData: Input }) =>
          Promise.resolve({ text: countOn(promptOf(name, textsOf(inputData))) }),
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
