/** The stores of the hooks over a real server. */
import { createClient } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { openServer } from '../../control-api/test/open-server.ts'
import { createRunStore } from '../src/use-run.ts'
import { createConnectionStore } from '../src/use-server-connection.ts'
import { createListStore } from '../src/list-store.ts'
import { createThreadStore } from '../src/thread-store.ts'

import type { LiveStore } from '../src/live-store.ts'

const INPUTS = { composer: 'Bach', hall: 'A' }

/** Subscribes to a store until its value fulfils a condition. */
async function waitFor<T>(store: LiveStore<T>, isDone: (value: T) => boolean): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = (): void => {
    if (isDone(store.get())) resolve()
  }
  const stop = store.subscribe(check)
  check()
  await promise
  stop()
  return store.get()
}

describe('the store of a run', () => {
  it('The store of a run follows a run to its end, and continues where it was closed', async () => {
    await using api = await openServer()
    const client = createClient({ baseUrl: api.url })
    const runId = await api.submit()
    const store = createRunStore(client, runId)
    const before = await waitFor(store, ({ state }) => state.status === 'RUNNING')
    expect(before.connection).toBe('open')
    api.play()
    const after = await waitFor(store, ({ state }) => state.status === 'COMPLETED')
    expect(after.nextSeq).toBeGreaterThan(before.nextSeq)
    expect(after.state.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
  })

  it('The store of a run has the error of a run that does not exist', async () => {
    await using api = await openServer()
    const store = createRunStore(createClient({ baseUrl: api.url }), 'run-none')
    const { error } = await waitFor(store, (value) => value.error !== undefined)
    expect(error).toMatchObject({ code: 'RUN_NOT_FOUND' })
  })
})

describe('the store of the connection', () => {
  it('The store of the connection reports that the server is connected', async () => {
    await using api = await openServer()
    const store = createConnectionStore(createClient({ baseUrl: api.url }))
    expect(store.get()).toEqual({ status: 'connecting', losses: 0 })
    const state = await waitFor(store, ({ status }) => status === 'open')
    expect(state).toEqual({ status: 'open', losses: 0 })
  })
})

describe('the store of a list', () => {
  it('The store of a list is read again when a run is submitted', async () => {
    await using api = await openServer()
    const client = createClient({ baseUrl: api.url })
    const store = createListStore(client, (signal) => client.runs.list({}, { signal }))
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = store.subscribe(() => {
      if (store.get().data?.total === 1) resolve()
    })
    await api.submit()
    await promise
    stop()
    expect(store.get().data?.runs).toMatchObject([{ ensemble: 'band' }])
  })
})

describe('the store of a thread', () => {
  it('[REACT-4] The store of a thread shows the runs of the server, and the newest one as its events arrive', async () => {
    await using api = await openServer()
    const client = createClient({ baseUrl: api.url })
    await client.threads.create({ threadId: 'thread-a' })
    const store = createThreadStore(client, 'thread-a')
    await client.runs.submit({ inputs: INPUTS, threadId: 'thread-a' })
    const live = await waitFor(store, ({ runs }) => runs.at(-1)?.state?.status === 'RUNNING')
    expect(live.runs).toMatchObject([{ status: 'RUNNING', userMessage: JSON.stringify(INPUTS) }])
    api.play()
    const over = await waitFor(store, ({ runs }) => runs.at(-1)?.status === 'COMPLETED')
    expect(over.runs).toMatchObject([{ assistantMessage: 'It was played in full' }])
    await client.runs.run({ inputs: INPUTS, threadId: 'thread-a' })
    const both = await waitFor(
      store,
      ({ runs }) => runs.length === 2 && runs.every(({ status }) => status === 'COMPLETED'),
    )
    const { runs } = await client.threads.runs('thread-a')
    expect(both.runs.map(({ state: _, ...run }) => run)).toEqual(runs.toReversed())
  })

  it('The store of a thread has the error of a thread that does not exist', async () => {
    await using api = await openServer()
    const store = createThreadStore(createClient({ baseUrl: api.url }), 'none')
    const { error, isLoading } = await waitFor(store, (value) => value.error !== undefined)
    expect([error, isLoading]).toMatchObject([{ code: 'THREAD_NOT_FOUND' }, false])
  })
})
