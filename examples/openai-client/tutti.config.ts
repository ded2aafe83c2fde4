/** The config of the server: an ensemble, and a model that clients may name. */
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const poet = scriptedModel(({ messages }) => {
  const [, thing = 'sea'] = /about the (\w+)/.exec(messages.at(-1)?.content ?? '') ?? []
  return `O ${thing}, the evening is long`
})

/** Calls the first tool of the client, and then repeats its result. */
const assistant = scriptedModel(({ messages, tools: [tool] }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `They say: ${last.content}`
  if (tool === undefined) return `You said "${last?.content}"`
  return { toolCalls: [{ name: tool.name, arguments: { city: 'Bonn' } }] }
})

const write = task({ name: 'write', description: 'Write about the {thing}' })

export default defineConfig({
  ensembles: [ensemble({ name: 'poet', tasks: [write], model: poet })],
  models: { assistant },
})
