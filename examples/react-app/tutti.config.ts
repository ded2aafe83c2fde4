/** The config of the server: letters that a person reviews, and a guide to talk to. */
import { ensemble, task } from '@tutti/ensemble'
import { defineConfig } from '@tutti/server'
import { scriptedModel } from '@tutti/testing'

const write = task({
  name: 'write',
  description: 'Write to {name}',
  review: { prompt: 'Send this letter?' },
})

// To use real models: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const writer = scriptedModel(
  ({ messages }) => {
    const text = messages.map(({ content }) => content).join('\n')
    const isRejected = text.includes('sent your last answer back')
    return isRejected ? 'Dear Ada, how are you? Yours, Grace' : 'Hey Ada, how are you?'
  },
  { delayMs: 400 },
)

// Without a system message, the model gets the conversation as it is.
const answer = task({ name: 'answer', description: '{message}', instructions: '' })

const talker = scriptedModel(
  ({ messages }) => {
    const questions = messages.filter(({ role }) => role === 'user')
    return `Your first question was ${questions.at(0)?.content}, and this is question ${questions.length}.`
  },
  { delayMs: 150 },
)

export default defineConfig({
  ensembles: [
    ensemble({ name: 'letters', tasks: [write], model: writer }),
    ensemble({ name: 'guide', tasks: [answer], model: talker }),
  ],
})
