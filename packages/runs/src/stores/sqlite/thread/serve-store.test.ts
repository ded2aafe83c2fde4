import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { serveStore } from './serve-store.ts'

import type { FromThread, ToThread } from './messages.ts'

let directory: string
let port: MessagePort

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-serve-'))
  const { port1, port2 } = new MessageChannel()
  port = port1
  const opened = receive()
  serveStore(port2, { directory, synchronous: 'NORMAL' })
  await opened
})

afterEach(async () => {
  const closed = receive()
  send({ kind: 'close' })
  await closed
  port.close()
  rmSync(directory, { recursive: true })
})

it('[RUNS-TH1] The calls of one message begin in their order, and one message returns their results', async () => {
  const results = receive()
  send(callsAt(1_000, ['thread-a', 'thread-b', 'thread-a']))
  const message = await results
  if (message.kind !== 'results') throw new Error(`Got ${message.kind}`)
  expect(message.results.map(({ id }) => id)).toEqual([0, 1, 2])
  expect(message.results).toMatchObject([
    { value: { isNew: true, thread: { threadId: 'thread-a' } } },
    { value: { isNew: true, thread: { threadId: 'thread-b' } } },
    { value: { isNew: false, thread: { threadId: 'thread-a' } } },
  ])
})

it('[RUNS-TH2] The present of a call is that of its message', async () => {
  for (const now of [5_000, 1_000]) {
    const results = receive()
    send(callsAt(now, [`thread-${now}`]))
    expect(await results).toMatchObject({ results: [{ value: { thread: { createdAt: now } } }] })
  }
})

/** Returns a message that creates threads. */
function callsAt(now: number, threadIds: readonly string[]): ToThread {
  const calls = threadIds.map((threadId, id) => ({
    id,
    port: 'threads' as const,
    method: 'create',
    given: [{ threadId, tags: {} }],
    key: '',
    connection: 0,
  }))
  return { kind: 'calls', now, calls }
}

function send(message: ToThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins
  port.postMessage(message)
}

async function receive(): Promise<FromThread> {
  const [message] = await once(port, 'message')
  return message
}
