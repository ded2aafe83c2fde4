/** What the server of this example serves: a task that looks things up, and one that writes. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

import { counted, note } from './counted.ts'

const search = defineTool({
  name: 'search',
  description: 'Searches the library',
  input: Type.Object({ query: Type.String() }),
  execute({ query }) {
    note(`answered  tool search "${query}"`)
    return `${query}: the moon pulls the sea`
  },
})

// A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain.
// A script that a resumed run is to go on with looks at what it is asked: a list would begin anew.
const reader = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  return last?.role === 'tool'
    ? `Found: ${last.content}`
    : { toolCalls: [{ name: 'search', arguments: { query: 'tides' } }] }
})
const writer = scriptedModel(() => 'Twice a day the moon pulls the sea up, and lets it go.')

const research = task({
  name: 'research',
  description: 'Look up {topic}',
  tools: [search],
  model: counted('research', reader),
})
const write = task({
  name: 'write',
  description: 'Write about {topic}',
  context: [research],
  model: counted('write', writer, { hangs: 'the first time' }),
})

export default defineConfig({
  ensembles: [ensemble({ name: 'report', tasks: [research, write] })],
})
