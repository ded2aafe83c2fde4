import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { agent, ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { traceRuns } from '../src/index.ts'

const guide = agent({ role: 'Guide', goal: 'Show people round' })
const trip = ensemble({
  name: 'trip',
  tasks: [task({ name: 'plan', description: 'Plan a day in {city}', agent: guide })],
  model: scriptedModel(['A walk by the river.'], { provider: 'anthropic', name: 'claude' }),
})

// To send them: new BatchSpanProcessor(new OTLPTraceExporter())
const spans = new InMemorySpanExporter()
const tracing = traceRuns({ processor: new SimpleSpanProcessor(spans) })

await trip.run({ city: 'Lisbon' }, tracing.run())
await tracing.flush()

for (const { name, status } of spans.getFinishedSpans()) console.log(name, status)
// chat claude { code: 0 }
// invoke_agent Guide { code: 0 }
// invoke_workflow trip { code: 0 }
