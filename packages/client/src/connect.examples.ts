/** The second example of README.md. Needs a server, as the first does. */
// #region readme
import { createClient } from '@tutti/client'

const client = createClient({ baseUrl: 'http://127.0.0.1:7329' })
const connection = client.connect({
  onConnection: ({ status, attempt }) => console.log('Connection', status, attempt),
})

const run = await connection.run({ inputs: { topic: 'AI safety' } })
for await (const event of connection.subscribe({ runId: run.runId })) {
  if (event.type === 'tool_called') console.log(event.toolName, event.outcome)
  if (event.type === 'review_requested') {
    await connection.decide(event.reviewId, { decision: 'CONTINUE' })
  }
}
const { status, outputs } = await run.result()
console.log(status, outputs.length)
await connection.close()
// #endregion
