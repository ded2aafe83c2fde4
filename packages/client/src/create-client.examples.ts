/** First example of README.md. Needs a running server: `npm start` starts one without keys. */
// #region readme
import { createClient, TuttiClientError } from '@tutti/client'

const client = createClient({ baseUrl: 'http://127.0.0.1:7329' })

try {
  const { runId } = await client.runs.submit({ inputs: { topic: 'AI safety' } })
  const events = client.runs.events(runId, {
    events: ['task_started', 'token', 'run_result'],
    onConnection: ({ status }) => status === 'reconnecting' && console.error('Connection lost'),
  })
  for await (const event of events) {
    if (event.type === 'task_started') console.log(`\n\n# ${event.taskName}`)
    if (event.type === 'token') process.stdout.write(event.token)
    if (event.type === 'run_result') console.log(`\n\n${event.status} in ${event.durationMs} ms`)
  }
} catch (error) {
  if (!TuttiClientError.isInstance(error)) throw error
  console.error(error.code, error.message)
}
// #endregion
