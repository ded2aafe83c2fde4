import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

const convert = defineTool({
  name: 'to_fahrenheit',
  description: 'Converts degrees Celsius to Fahrenheit',
  input: Type.Object({ celsius: Type.Number() }),
  execute: ({ celsius }) => `${celsius * 1.8 + 32} °F`, // celsius: number
})

const weather = task({ name: 'weather', description: 'How warm is {city}?', tools: [convert] })
const advice = task({ name: 'advice', description: 'Say what to wear', context: [weather] })

// A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel([
  { toolCalls: [{ name: 'to_fahrenheit', arguments: { celsius: 21 } }] },
  'Lisbon has 69.8 °F today.',
  'A shirt will do.',
])

export const trip = ensemble({ name: 'trip', tasks: [weather, advice], model })
