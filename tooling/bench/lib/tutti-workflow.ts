/** Ten tasks as our ensemble: each is one call of the scripted model. */
import { builtPackage } from './built.ts'
import { countOn, promptOf, type Layers } from './ten-tasks.ts'

import type { Ensemble } from '../../../packages/ensemble/src/index.ts'
import type { Runner } from './runners.ts'

type EnsembleDoor = typeof import('../../../packages/ensemble/src/index.ts')
type TestingDoor = typeof import('../../../packages/testing/src/index.ts')

/** Returns the tasks of `layers` as an ensemble, sequential when each layer has one task. */
export async function tuttiWorkflow(layers: Layers): Promise<Runner> {
  const { ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const { scriptedModel } = await builtPackage<TestingDoor>('testing')
  const tasks = layers.flatMap((names, layer) =>
    names.map((name) =>
      task({ name, description: `Add up for ${name}`, context: layers[layer - 1] ?? [] }),
    ),
  )
  const workflow = layers.every((names) => names.length === 1) ? 'SEQUENTIAL' : 'PARALLEL'
  const makeTeam = (): Ensemble =>
    ensemble({
      name: 'count',
      model: scriptedModel(({ messages }) => countOn(messages.at(-1)?.content ?? '')),
      tasks,
      workflow,
    })
  let team = makeTeam()
  return {
    name: 'Tutti, tasks that call a model',
    prepare() {
      team = makeTeam()
    },
    async run() {
      let events = 0
      const { output } = await team.run({}, { onEvent: () => (events += 1) })
      if (events === 0) throw new Error('Tutti reported no event')
      return output
    },
  }
}

/** Returns the tasks of `layers` as handlers: code instead of an agent, like the steps of the peers. */
export async function tuttiHandlers(layers: Layers): Promise<Runner> {
  const { ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const tasks = layers.flatMap((names, layer) =>
    names.map((name) =>
      task({
        name,
        description: `Add up for ${name}`,
        context: layers[layer - 1] ?? [],
        handler: ({ context }) =>
          countOn(
            promptOf(
              name,
              context.map(({ output }) => output),
            ),
          ),
      }),
    ),
  )
  const team = ensemble({ name: 'count', tasks })
  return {
    name: 'Tutti, tasks of code',
    async run() {
      let events = 0
      const { output } = await team.run({}, { onEvent: () => (events += 1) })
      if (events === 0) throw new Error('Tutti reported no event')
      return output
    },
  }
}
