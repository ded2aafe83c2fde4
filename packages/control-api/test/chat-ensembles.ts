/** Ensembles for clients of chat APIs: each has one way to end or to wait. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import { singer } from './a2a-agent.ts'
import { openServer, type TestServer } from './open-server.ts'
import { approvedTool, reviewedTask } from './reviewed-ensembles.ts'

/** Model that repeats the newest message, and says how many messages it got. */
export const echo = scriptedModel(
  ({ messages }) => `${messages.length}: ${messages.at(-1)?.content ?? ''}`,
  { provider: 'scripted' },
)

/** Model that calls each tool of the client once, and then repeats their results. */
export const caller = scriptedModel(
  ({ messages, tools }) => {
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    if (results.length > 0) return results.join(' and ')
    return { toolCalls: tools.map(({ name }) => ({ name, arguments: { city: 'Bonn' } })) }
  },
  { provider: 'scripted' },
)

/** Returns an ensemble of one task that sings the input, with this answer. */
function solo(name: string, answer: string | ScriptedReply | Error): Ensemble {
  const model = scriptedModel(() => answer, { provider: 'scripted' })
  const sing = task({ name: 'sing', description: 'Sing {song}' })
  return ensemble({ name, tasks: [sing], model })
}

/** Answer with readable reasoning. */
export const THOUGHT = { reasoning: 'I hum it first. Then I sing.', text: 'La la' } as const

/** Model that reasons before it calls each tool of the client, and before its answer. */
export const muse = scriptedModel(
  ({ messages, tools }) => {
    if (messages.at(-1)?.role === 'tool') return THOUGHT
    const toolCalls = tools.map(({ name }) => ({ name, arguments: { city: 'Bonn' } }))
    const text = toolCalls.length === 0 ? 'No tool tells it.' : ''
    return { reasoning: 'I need the weather.', text, toolCalls }
  },
  { provider: 'scripted' },
)

/** Ensemble whose tool asks the user, and whose model repeats the answer. */
export function asker(): Ensemble {
  const ask = defineTool({
    name: 'ask_user',
    description: 'Asks the user',
    input: Type.Object({ question: Type.String() }),
    async execute({ question }, { requestAnswer }) {
      const answer = await requestAnswer(question)
      return answer.answered ? answer.value : 'no answer'
    },
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `You said ${last.content}`
    return { toolCalls: [{ name: 'ask_user', arguments: { question: 'Which key?' } }] }
  })
  const play = task({ name: 'play', description: 'Play {song}', tools: [ask] })
  return ensemble({ name: 'asker', tasks: [play], model })
}

/** Ensemble whose second task uses a tool that reports progress. */
export function duo(): Ensemble {
  const tune = defineTool({
    name: 'tune',
    description: 'Tunes',
    input: Type.Object({ hertz: Type.Number() }),
    execute({ hertz }, { reportProgress }) {
      reportProgress({ message: 'Tuning', fraction: 0.5 })
      return `${hertz} hertz`
    },
  })
  const answer = ({ messages, tools }: ModelRequest) => {
    if (tools.length === 0) return 'The plan'
    if (messages.at(-1)?.role === 'tool') return 'It was played'
    return { text: 'One moment', toolCalls: [{ name: 'tune', arguments: { hertz: 440 } }] }
  }
  const plan = task({ name: 'plan', description: 'Plan {song}' })
  const play = task({ name: 'play', description: 'Play {song}', context: [plan], tools: [tune] })
  const model = scriptedModel(answer, { provider: 'scripted' })
  return ensemble({ name: 'duo', tasks: [plan, play], model })
}

/** Returns all ensembles; the first is `singer`. */
export function chatEnsembles(): readonly Ensemble[] {
  return [
    singer(),
    duo(),
    approvedTool(),
    reviewedTask(),
    asker(),
    solo('thinker', THOUGHT),
    solo('broken', new Error('The piano is out of tune')),
    solo('refuser', { text: '', finishReason: 'refusal', refusal: 'I do not sing this' }),
    solo('filtered', { text: '', finishReason: 'content_filter' }),
    solo('cut', { text: 'La la', finishReason: 'length' }),
    spender(),
  ]
}

/** Ensemble whose budget ends with its first model call. */
function spender(): Ensemble {
  const usage = { inputTokens: 90, outputTokens: 90 }
  const toolCalls = [{ name: 'none', arguments: {} }]
  const model = scriptedModel(() => ({ toolCalls, usage }), { provider: 'scripted' })
  const sing = task({ name: 'sing', description: 'Sing {song}' })
  return ensemble({ name: 'spender', tasks: [sing], model, budget: { maxTokens: 10 } })
}

/** Serves all ensembles, with the models `echo`, `caller` and `muse` and more, to clients of chat APIs. */
export function openChatServer(
  more: Readonly<Record<string, ChatModel>> = {},
): Promise<TestServer> {
  const models = modelCatalog({ echo, caller, muse, ...more })
  return openServer({ ensembles: chatEnsembles(), models, limits: { models } })
}
