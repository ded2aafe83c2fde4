/** Second example of README.md. Needs a running server, as the first does. */
// #region readme
import { createClient } from '@tutti/client'

const client = createClient({ baseUrl: 'http://127.0.0.1:7329' })
const connection = client.connect({
  onConnection: ({ status, attempt }) => console.log('Connection', status, attempt),
})

const { runId } = await client.runs.submit({ inputs: { topic: 'AI safety' } })
for await (const event of connection.subscribe({ runId })) {
  if (event.type === 'tool_called') console.log(event.toolName, event.outcome)
  if (event.type === 'review_requested') {
    await client.reviews.decide(event.reviewId, { decision: 'CONTINUE' }, { over: connection })
  }
  if (event.type === 'run_result') console.log(event.status, event.outputs.length)
}
await connection.close()
// #endregion
