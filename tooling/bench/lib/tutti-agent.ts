/** Our agent: an ensemble of one task, on the scripted model or any other. */
import { builtPackage } from './built.ts'
import { orderTool } from './order-tool.ts'
import { answerTo, ARGUMENTS, PROMPT, ROLE, TOOL } from './story.ts'

import type { LangchainModel } from './peers.ts'
import type { Runner } from './runners.ts'
import type { ChatModel } from '../../../packages/ensemble/src/adapter.ts'
import type { Ensemble } from '../../../packages/ensemble/src/index.ts'

type EnsembleDoor = typeof import('../../../packages/ensemble/src/index.ts')
type LangchainDoor = typeof import('../../../packages/langchain/src/index.ts')
type TestingDoor = typeof import('../../../packages/testing/src/index.ts')

/** The agent on our published test model. */
export async function tuttiAgent(): Promise<Runner> {
  const { scriptedModel } = await builtPackage<TestingDoor>('testing')
  const makeModel = (): ChatModel =>
    scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'tool'
        ? answerTo(last.content)
        : { toolCalls: [{ name: TOOL.name, arguments: ARGUMENTS }] }
    })
  return tuttiAgentOn(makeModel, 'Tutti')
}

/** The agent on a model. A listener reads its events, like the streams of the peers. */
export async function tuttiAgentOn(
  makeModel: (runs: number) => ChatModel,
  name: string,
): Promise<Runner> {
  const { agent, ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const buyer = agent({ role: ROLE, goal: 'Goods that arrive', tools: [orderTool] })
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
      if (events === 0) throw new Error(`${name} reported no event`)
      return output
    },
  }
}

/**
 * The agent on the fake model of LangChain, with the adapter. The adapter creates its messages with its own copy of
 * LangChain's core, of the same version.
 */
export async function tuttiLangchainAgent(
  makeModel: (runs: number) => LangchainModel,
): Promise<Runner> {
  const { langchainModel } = await builtPackage<LangchainDoor>('langchain')
  return tuttiAgentOn((runs) => {
    const model = makeModel(runs)
    return langchainModel(() => model, { provider: 'fake', name: 'model' })
  }, "Tutti on LangChain's model")
}
