/** Our agent: an ensemble of one task, its model scripted or any of the port. */
import { builtPackage } from './built.ts'
import { answerTo, PROMPT, ROLE } from './agent-story.ts'
import { ORDER, ORDER_ARGUMENTS, orderTool } from './order-tool.ts'

import type { Runner } from './runners.ts'
import type { ChatModel, Ensemble } from '../../../packages/ensemble/src/index.ts'

type EnsembleDoor = typeof import('../../../packages/ensemble/src/index.ts')
type TestingDoor = typeof import('../../../packages/testing/src/index.ts')

/** The agent on the scripted model that we publish for tests. */
export async function tuttiAgent(): Promise<Runner> {
  const { scriptedModel } = await builtPackage<TestingDoor>('testing')
  const makeModel = (): ChatModel =>
    scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'tool'
        ? answerTo(last.content)
        : { toolCalls: [{ name: ORDER.name, arguments: ORDER_ARGUMENTS }] }
    })
  return tuttiAgentOn(makeModel, 'Tutti')
}

/** The agent on a model. A listener takes its events, as those of the peers' streams are taken. */
export async function tuttiAgentOn(
  makeModel: (runs: number) => ChatModel,
  name: string,
): Promise<Runner> {
  const { agent, ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const buyer = agent({ role: ROLE, goal: 'Goods at the door', tools: [orderTool] })
  const tasks = [task({ description: PROMPT, agent: buyer })]
  const makeTeam = (runs: number): Ensemble =>
    ensemble({ name: 'shop', model: makeModel(runs), tasks })
  let team = makeTeam(0)
  return {
    name,
    prepare(runs) {
      team = makeTeam(runs)
    },
    async run() {
      let events = 0
      const { output } = await team.run({}, { onEvent: () => (events += 1) })
      if (events === 0) throw new Error(`${name} told of no event`)
      return output
    },
  }
}
