/** What the server behind the page serves, and which page may call it. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

const addressOf = defineTool({
  name: 'address_of',
  description: 'Looks up where somebody lives',
  input: Type.Object({ name: Type.String() }),
  execute: ({ name }) => `${name}, 12 St James's Square, London`,
})

const lookUp = task({
  name: 'look-up',
  description: 'Look up {name}',
  tools: [addressOf],
})
const write = task({
  name: 'write',
  description: 'Write to {name}',
  context: [lookUp],
  review: { prompt: 'Shall it go out?', timeoutMs: 3_600_000, onTimeout: 'FAIL' },
})

// A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel(
  ({ messages }) => {
    const asked = messages.map(({ content }) => content).join('\n')
    if (asked.includes('sent your last answer back')) return 'Dear Ada, how are you? Yours, Grace'
    if (asked.includes('## Context from Previous Tasks')) return 'Hey Ada, how are you?'
    if (messages.at(-1)?.role === 'tool') return 'Ada lives in London.'
    return { toolCalls: [{ name: 'address_of', arguments: { name: 'Ada' } }] }
  },
  { delayMs: 100 },
)

export default defineConfig({
  ensembles: [ensemble({ name: 'letters', tasks: [lookUp, write], model })],
  // oxlint-disable-next-line node/no-process-env -- a config file may read what differs between machines
  allowedOrigins: [process.env['PAGE_ORIGIN'] ?? 'http://localhost:4173'],
})
