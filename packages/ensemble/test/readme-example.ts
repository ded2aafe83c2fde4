import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '../src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'

const search = defineTool({
  name: 'search',
  description: 'Searches an encyclopedia',
  input: Type.Object({ query: Type.String() }),
  execute: ({ query }) => `${query}: a style of music from New Orleans`,
})
const research = task({ description: 'Research {topic}', tools: [search] })
const write = task({ description: 'Write a line about {topic}', context: [research] })

const model = scriptedModel([
  { toolCalls: [{ name: 'search', arguments: { query: 'jazz' } }] },
  'It comes from New Orleans.',
  'Jazz: all together now.',
])
const team = ensemble({ name: 'writers', model, tasks: [research, write] })
const result = await team.run({ topic: 'jazz' })
console.log(result.status, result.output)
for (const { taskName, output } of result.tasks) console.log(`${taskName}: ${output}`)
// COMPLETED Jazz: all together now.
// research-topic: It comes from New Orleans.
// write-a-line-about-topic: Jazz: all together now.
