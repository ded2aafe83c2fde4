import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { model } from './model.ts'

const convert = defineTool({
  name: 'to_fahrenheit',
  description: 'Converts degrees Celsius to Fahrenheit',
  input: Type.Object({ celsius: Type.Number() }),
  execute: ({ celsius }) => `${celsius * 1.8 + 32} °F`, // celsius: number
})
const weather = task({ name: 'weather', description: 'How warm is {city}?', tools: [convert] })
const advice = task({ name: 'advice', description: 'Say what to wear', context: [weather] })

export const trip = ensemble({ name: 'trip', tasks: [weather, advice], model })
