import { toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { listTools, findStructuredTask } from './listed-tools.ts'

import type { Sharing } from '../gateway-options.ts'
import type { Ensemble, Task } from '@tutti/ensemble'

const model = scriptedModel(() => 'Done')

function offered(one: Ensemble) {
  // NOTE: the list reads only the ensembles of a run service.
  const runs = { ensembles: [one] } as unknown as Sharing['runs']
  const models = modelCatalog({})
  const [offer] = listTools({ runs, models, tools: toolCatalog([]), shared: undefined })
  return offer?.definition
}

describe('listTools', () => {
  it('listTools requires no inputs when there are no template variables', () => {
    const tasks = [task({ name: 'a', description: 'Sing' })]
    expect(offered(ensemble({ name: 'solo', tasks, model }))).toMatchObject({
      description: 'Runs the ensemble "solo"\n\nThe run has 1 task and can take minutes.',
      inputSchema: { properties: {}, required: [] },
    })
  })

  it('listTools lists the inputs that the ensemble names, of which template variables are required', () => {
    const tasks = [task({ name: 'a', description: 'Sing {song}' })]
    const { inputSchema } = offered(
      ensemble({ name: 'solo', tasks, model, inputs: ['hall', 'song'] }),
    ) ?? { inputSchema: undefined }
    expect(inputSchema).toEqual({
      type: 'object',
      properties: {
        song: { type: 'string', description: 'Replaces {song} in the task: Sing {song}' },
        hall: { type: 'string', description: 'Optional input of the run' },
      },
      required: ['song'],
      additionalProperties: false,
    })
  })

  it('listTools adds an $id to an output schema that refers to itself', () => {
    const tree = {
      type: 'object',
      properties: { parts: { type: 'array', items: { $ref: '#' } } },
    }
    const tasks = [task({ name: 'a', description: 'Sing', output: tree })]
    expect(offered(ensemble({ name: 'solo', tasks, model }))?.outputSchema).toMatchObject({
      properties: { structured: { $id: 'urn:tutti:mcp:solo:output', ...tree } },
    })
  })
})

describe('findStructuredTask', () => {
  it('findStructuredTask returns the last task if it has an output schema', () => {
    const output = Type.Object({ n: Type.Integer() })
    const plain = task({ name: 'a', description: 'A' })
    const typed = task({ name: 'b', description: 'B', output })
    const of = (...tasks: readonly Task[]) =>
      findStructuredTask(ensemble({ name: 'x', tasks, model }))?.name
    expect([of(plain, typed), of(typed, plain), of(plain)]).toEqual(['b', undefined, undefined])
    // The output of a team with a manager is the output of the manager.
    expect(
      findStructuredTask(ensemble({ name: 'x', tasks: [typed], model, workflow: 'HIERARCHICAL' })),
    ).toBeUndefined()
  })
})
