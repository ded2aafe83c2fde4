/** The config of the server: its ensemble, and the origin of the page that may call it. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

const lookUpAddress = defineTool({
  name: 'address_of',
  description: 'Looks up the address of a person',
  input: Type.Object({ name: Type.String() }),
  execute: ({ name }) => `${name}, 12 St James's Square, London`,
})

const lookUp = task({
  name: 'look-up',
  description: 'Look up {name}',
  tools: [lookUpAddress],
})
const write = task({
  name: 'write',
  description: 'Write to {name}',
  context: [lookUp],
  review: { prompt: 'Send this letter?', timeoutMs: 3_600_000, onTimeout: 'FAIL' },
})

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel(
  ({ messages }) => {
    const text = messages.map(({ content }) => content).join('\n')
    if (text.includes('sent your last answer back')) return 'Dear Ada, how are you? Yours, Grace'
    if (text.includes('## Context from Previous Tasks')) return 'Hey Ada, how are you?'
    if (messages.at(-1)?.role === 'tool') return 'Ada lives in London.'
    return { toolCalls: [{ name: 'address_of', arguments: { name: 'Ada' } }] }
  },
  { delayMs: 100 },
)

export default defineConfig({
  ensembles: [ensemble({ name: 'letters', tasks: [lookUp, write], model })],
  // oxlint-disable-next-line node/no-process-env -- a config file may read settings that differ between machines
  allowedOrigins: [process.env['PAGE_ORIGIN'] ?? 'http://localhost:4173'],
})
