import { Type } from '@tutti/core'
import { ensemble, task } from '../src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'

const plan = task({
  name: 'plan',
  description: 'Plan a day in {city}',
  output: Type.Object({ stops: Type.Array(Type.String()), hours: Type.Integer({ maximum: 12 }) }),
  retries: 1,
})
const count = task({
  name: 'count',
  description: 'Count the stops',
  context: [plan],
  handler: ({ context }) => `${context[0]?.output.split(',').length} parts`,
})

const model = scriptedModel([
  'Here you go: {"stops": ["harbor", "museum"], "hours": 30}',
  '{"stops": ["harbor", "museum"], "hours": 6}',
])
const result = await ensemble({ name: 'days', model, tasks: [plan, count] }).run({ city: 'Oslo' })
const day = result.outputOf(plan)
console.log(day?.stops.join(' and '), 'in', day?.hours, 'hours')
console.log(result.outputOf(count))
// harbor and museum in 6 hours
// 3 parts
