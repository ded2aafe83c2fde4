/** A run whose server is killed, and which another server completes. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createClient } from '@tutti/client'

import { startServer } from './server-process.ts'

const folder = await mkdtemp(join(tmpdir(), 'tutti-example-'))

const first = await startServer(folder)
const firstClient = createClient({ baseUrl: first.url })
const { runId } = await firstClient.runs.submit({ inputs: { topic: 'tides' } })
let seen = -1
for await (const event of firstClient.runs.events(runId)) {
  seen = event.seq
  if (event.type === 'tool_called') console.log(`${event.toolName} returned`)
  if (event.type === 'task_completed') console.log(`${event.taskName} completed`)
  if (event.type === 'token' && event.taskName === 'write') break
}
console.log('kill -9, in the middle of a model call of "write"')
await first.end('SIGKILL')

const second = await startServer(folder)
const client = createClient({ baseUrl: second.url })
for await (const event of client.runs.events(runId, { from: seen + 1 })) {
  if (event.type === 'run_resumed') console.log('resumed, completed before:', event.completedTasks)
  if (event.type === 'task_completed') console.log(`${event.taskName} completed`)
  if (event.type === 'run_result') console.log(event.status, event.outputs.at(-1)?.output)
}
await second.end('SIGTERM')

console.log('\nThe calls of both servers together:')
const log = (await readFile(join(folder, 'calls.log'), 'utf8')).trim()
console.log(log)
const completed = log.split('\n').filter((line) => line.startsWith('completed'))
const repeated = completed.length - new Set(completed).size
console.log(`${completed.length} calls completed, ${repeated} of them were repeated`)
await rm(folder, { recursive: true })
