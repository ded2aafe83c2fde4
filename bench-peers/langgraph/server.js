/**
 * The agent of LangGraph behind `node:http`, streamed as its documentation shows. With IS_DURABLE each run is a thread
 * with checkpoints in a SQLite file.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

import { makeAgent } from './agent.js'

const { DATA_DIR, IS_DURABLE, PORT } = process.env
const agent = makeAgent(
  IS_DURABLE === undefined
    ? undefined
    : SqliteSaver.fromConnString(`${DATA_DIR}/checkpoints.sqlite`),
)

createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end()
    return
  }
  const { input } = JSON.parse(await text(request))
  const events = await agent.stream(
    { messages: [{ role: 'user', content: input }] },
    { streamMode: ['updates', 'messages'], configurable: { thread_id: randomUUID() } },
  )
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for await (const [mode, data] of events) {
    response.write(`event: ${mode}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  response.end()
}).listen(Number(PORT), '127.0.0.1')
