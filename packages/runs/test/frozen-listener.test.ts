/** A process that is stopped while it listens, with a real process and a small notification queue. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { postgresRunStorage } from '@tutti/runs/postgres'
import { token } from '@tutti/runs/testing'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testServer } from '../../../tooling/postgres/test-database.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { EventBus } from '../src/feed/event-bus.ts'
import { RunEventFeed } from '../src/feed/event-feed.ts'
import { PageCache } from '../src/feed/page-cache.ts'
import { createRun, ownedRun } from '../src/testing/support/run-fixtures.ts'

import type { Client } from 'pg'

const PROCESS = fileURLToPath(new URL('fixtures/listening-process.ts', import.meta.url))

/** Maximum number of statements that fill the queue, each with 7 kB. */
const MAX_ROUNDS = 20_000

/** Number of statements in a row that fail when the stopped process has no more room for notifications. */
const FAILURES = 20

it('[RUNS-N4] [RUNS-F6] Commits and submits succeed while a stopped process fills the notification queue, and readers are one poll late', async () => {
  await using server = await testServer()
  await using admin = await connect(server.url)
  await admin.client.query('ALTER SYSTEM SET max_notify_queue_pages = 64')
  await admin.client.end()
  await server.stop()
  await server.start()
  await using again = await connect(server.url)
  await using writer = await postgresRunStorage({ connectionString: server.url })
  await using reader = await postgresRunStorage({ connectionString: server.url })
  const owner = await ownedRun(writer, 'run-a')
  const { feed, seqs } = followRun(reader.events, 'run-a')
  await feed.poll()
  await using listening = await startListening(server.url)
  listening.child.kill('SIGSTOP')
  await fillQueue(again.client)

  expect((await owner.commit([token('x')])).kind).toBe('written')
  await createRun(writer, 'run-b')
  expect(writer.isAvailable).toBe(true)
  expect((await writer.queue.metrics()).notificationQueueUsage).toBeGreaterThan(0.9)
  expect(seqs).toEqual([])
  await feed.poll()
  await until('the event is read', () => seqs.length > 0)
  expect(seqs).toEqual([1])

  listening.child.kill('SIGCONT')
  await until('the queue is read', async () => {
    return (await writer.queue.metrics()).notificationQueueUsage < 0.1
  })
  reader.listen((notification) => {
    if (notification.kind === 'events') feed.onWritten(notification.runId, notification)
  })
  expect((await owner.commit([token('y')])).kind).toBe('written')
  await until('the reader is notified again', () => seqs.length > 1)
  expect(seqs).toEqual([1, 2])
})

/** Follows a run with polls that the test makes; returns the sequence numbers that its readers received. */
function followRun(events: ConstructorParameters<typeof RunEventFeed>[0]['events'], runId: string) {
  const bus = new EventBus((error) => {
    throw error
  })
  const onError = (error: unknown): void => {
    throw error
  }
  const clock = fakeClock()
  const pages = new PageCache(events, clock)
  const feed = new RunEventFeed({ events, bus, pages, isOwn: () => false, clock, onError })
  const seqs: number[] = []
  bus.listen(runId, (batch) => seqs.push(...batch.map(({ seq }) => seq)))
  return { feed, seqs }
}

/** Notifies the following process until its connection takes no more and the queue is full. */
async function fillQueue(client: Client): Promise<void> {
  let failures = 0
  for (let round = 0; round < MAX_ROUNDS && failures < FAILURES; round += 1) {
    try {
      await client.query(
        `SELECT pg_notify(channel, $1 || repeat('x', 7000)) FROM tutti.followers WHERE run = 0`,
        [`${round} `],
      )
      failures = 0
    } catch (error) {
      expect(error).toMatchObject({ code: '54000' })
      // The queue is also full while its readers are slow.
      if (await isReaderBlocked(client)) failures += 1
      await setTimeout(10)
    }
  }
  expect(failures).toBe(FAILURES)
}

/** Returns whether a backend waits until its client reads. */
async function isReaderBlocked(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_stat_activity WHERE wait_event = 'ClientWrite'`,
  )
  return rows.length > 0
}

async function connect(connectionString: string) {
  const client = await connectClient(connectionString)
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

async function startListening(url: string): Promise<{ child: ChildProcess } & AsyncDisposable> {
  const child = spawn(process.execPath, ['--conditions=@tutti/source', PROCESS, url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
