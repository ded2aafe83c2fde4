/** The config of the server: an ensemble with a task that researches and one that writes. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

import { record, recordCalls } from './counted.ts'

const search = defineTool({
  name: 'search',
  description: 'Searches the library',
  input: Type.Object({ query: Type.String() }),
  execute({ query }) {
    record(`completed tool search "${query}"`)
    return `${query}: the moon pulls the sea`
  },
})

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain.
// A script for runs that resume must depend on the messages: a list of replies would start again.
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
  model: recordCalls('research', reader),
})
const write = task({
  name: 'write',
  description: 'Write about {topic}',
  context: [research],
  model: recordCalls('write', writer, { hangs: 'the first time' }),
})

export default defineConfig({
  ensembles: [ensemble({ name: 'report', tasks: [research, write] })],
})
