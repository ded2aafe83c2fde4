/** The example of README.md: an agent with one tool on a real model. Needs ANTHROPIC_API_KEY. */
// #region readme
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { langchainModel } from '@tutti/langchain'

const population = defineTool({
  name: 'population',
  description: 'Looks up how many people live in a city',
  input: Type.Object({ city: Type.String() }),
  execute: ({ city }) => `${city}: 1,084,831`,
})

const trip = ensemble({
  name: 'trip',
  model: langchainModel('anthropic:claude-sonnet-4-5', { maxTokens: 500 }),
  tasks: [task({ description: 'Say how big {city} is', tools: [population] })],
})

const result = await trip.run(
  { city: 'Cologne' },
  {
    onEvent(event) {
      if (event.type === 'token') process.stdout.write(event.token)
    },
  },
)
console.log(`\n${result.status}, ${result.metrics.totalTokens} tokens`)
// #endregion
