/** The config of the server: an ensemble that looks up a word and asks for approval, and answers slowly. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up a word',
  input: Type.Object({ word: Type.String() }),
  requireApproval: true,
  execute: ({ word }) => `${word}: all together`,
})

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel(
  ({ messages }) => {
    if (messages.at(-1)?.role === 'tool')
      return 'It means that all play together, at the same time.'
    return { toolCalls: [{ name: 'look_up', arguments: { word: 'tutti' } }] }
  },
  { delayMs: 150 },
)

const answer = task({ name: 'answer', description: 'Answer {question}', tools: [lookUp] })

export default defineConfig({ ensembles: [ensemble({ name: 'teacher', tasks: [answer], model })] })
