/**
 * The ensemble of the fixtures. Runs of the last release continue only while its code stays the same, so it never
 * changes between two releases.
 */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '../../packages/testing/src/index.ts'

/** The ensemble, and what its runs called in this process. */
export interface Team {
  readonly ensemble: Ensemble
  /** Topics that the tool `look_up` was called with. */
  readonly lookedUp: readonly string[]
  /** Resolves when `look_up` is called with "an interruption"; the call itself waits for its end. */
  readonly interrupted: Promise<void>
}

/** Creates the ensemble: `find` calls a tool, and the output of `write` is reviewed. */
export function createTeam({ waits = false } = {}): Team {
  const lookedUp: string[] = []
  const interrupted = Promise.withResolvers<void>()
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks up a topic',
    input: Type.Object({ topic: Type.String() }),
    async execute({ topic }, { signal }) {
      lookedUp.push(topic)
      if (topic === 'a failure') throw new Error('The library is closed')
      if (waits && topic === 'an interruption') {
        interrupted.resolve()
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
      }
      return `Facts about ${topic}`
    },
  })
  const model = scriptedModel(({ messages, tools }) => {
    const last = messages.at(-1)
    const text = messages.map(({ content }) => content).join('\n')
    const [, topic = ''] = /Find facts about (.*)/.exec(text) ?? []
    if (topic === 'a failure') return new Error('The model is overloaded')
    if (tools.length === 0) return 'A text'
    if (last?.role === 'tool') return last.content
    return { toolCalls: [{ id: 'call-1', name: 'look_up', arguments: { topic } }] }
  })
  return {
    ensemble: ensemble({
      name: 'team',
      tasks: [
        task({ name: 'find', description: 'Find facts about {topic}', tools: [lookUp] }),
        task({
          name: 'write',
          description: 'Write a text',
          context: ['find'],
          review: { timeoutMs: Infinity },
        }),
      ],
      model,
    }),
    lookedUp,
    interrupted: interrupted.promise,
  }
}
