/** Tests every kind of run with the clients of other protocols, over the built server. The documentation has the table. */
import { describe, expect, it } from 'vitest'

import { FOREIGN_CASES, type ForeignViews } from '../../../tooling/reference/foreign-cases.ts'
import { openReaders, type ForeignReader } from './foreign-readers.ts'
import { numbers, POLLING, recordSteps } from './recorded-steps.ts'

import type { ServerProcess } from './server-process.ts'

const CONFIG = new URL('./fixtures/foreign.config.ts', import.meta.url).pathname

const ENVIRONMENT = { TUTTI_CONFIG: CONFIG }

const LIMIT_MS = 60_000

/** Lets every client act, and returns what each sees. */
async function look(
  readers: ReturnType<typeof openReaders>,
  act: (reader: ForeignReader) => Promise<string>,
): Promise<ForeignViews> {
  const [responses, chat, aiSdk, agUi] = await Promise.all([
    act(readers.responses),
    act(readers.chat),
    act(readers.aiSdk),
    act(readers.agUi),
  ])
  return { responses, chat, aiSdk, agUi }
}

/** Waits until each client has a run of an ensemble with this status. Returns the ids. */
async function untilRuns(
  server: ServerProcess,
  ensemble: string,
  status: 'RUNNING' | 'WAITING_REVIEW',
): Promise<readonly string[]> {
  const list = async () =>
    (await server.client().runs.list({ ensemble, status })).runs.map(({ runId }) => runId)
  await expect.poll(async () => (await list()).length, POLLING).toBeGreaterThanOrEqual(4)
  return list()
}

describe('the clients of other protocols', { timeout: LIMIT_MS }, () => {
  it('The clients of other protocols see each end of a run as the documentation says', async () => {
    using files = recordSteps()
    await using server = await files.start(ENVIRONMENT)
    const { answered, reasoned, refused, filtered, cut, cutAccepted, spent, failed } = FOREIGN_CASES
    const cases = { answered, reasoned, refused, filtered, cut, cutAccepted, spent, failed }
    const seen = await Promise.all(
      Object.keys(cases).map(
        async (name) =>
          [name, await look(openReaders(server.url), (reader) => reader.ask(name))] as const,
      ),
    )
    const expected = Object.entries(cases).map(([name, one]) => [name, one.seen])
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected))
  })

  it('The clients of other protocols see a review, and its approval', async () => {
    using files = recordSteps()
    await using server = await files.start(ENVIRONMENT)
    const readers = openReaders(server.url)
    expect(await look(readers, (reader) => reader.ask('panel'))).toEqual(
      FOREIGN_CASES.reviewed.seen,
    )
    await untilRuns(server, 'panel', 'WAITING_REVIEW')
    const approvals = look(readers, (reader) => reader.approve())
    const { reviews } = server.client()
    const list = async () => (await reviews.list()).reviews
    // The client of chat completions cannot decide its review.
    await expect.poll(async () => (await list()).length, POLLING).toBe(1)
    const [review] = await list()
    await reviews.decide(review?.reviewId ?? '', { decision: 'CONTINUE' })
    expect(await approvals).toEqual(FOREIGN_CASES.approved.seen)
  })

  it('The clients of other protocols see a cancelled run', async () => {
    using files = recordSteps()
    files.hold(1)
    await using server = await files.start(ENVIRONMENT)
    const seen = look(openReaders(server.url), (reader) => reader.ask('crew'))
    const runIds = await untilRuns(server, 'crew', 'RUNNING')
    await Promise.all(runIds.map((runId) => files.untilBegun(runId, 1)))
    await Promise.all(runIds.map((runId) => server.client().runs.cancel(runId)))
    expect(await seen).toEqual(FOREIGN_CASES.cancelled.seen)
  })

  it('The clients of other protocols continue and join their runs after the server was killed', async () => {
    using files = recordSteps()
    files.hold(3)
    const first = await files.start(ENVIRONMENT)
    const callers = openReaders(first.url)
    expect(await look(callers, (reader) => reader.ask('caller'))).toEqual(
      FOREIGN_CASES.clientTool.seen,
    )
    // Runs of models have the name of the first ensemble, too.
    const callerIds = await untilRuns(first, 'crew', 'WAITING_REVIEW')
    const crews = openReaders(first.url)
    const lost = look(crews, (reader) => reader.ask('crew'))
    const runIds = await untilRuns(first, 'crew', 'RUNNING')
    await Promise.all(runIds.map((runId) => files.untilBegun(runId, 3)))
    await first.end('SIGKILL')
    expect(await lost).toEqual(FOREIGN_CASES.killed.seen)
    files.release(3)
    await using second = await files.start(ENVIRONMENT)
    for (const reader of [...Object.values(callers), ...Object.values(crews)]) {
      reader.move(second.url)
    }
    expect(await look(callers, (reader) => reader.answer())).toEqual(
      FOREIGN_CASES.clientToolAfterKill.seen,
    )
    expect(await look(crews, (reader) => reader.join())).toEqual(FOREIGN_CASES.resumed.seen)
    for (const runId of runIds) {
      expect(numbers(files.steps(runId), 'end')).toEqual([1, 2, 3, 4])
    }
    const { runs } = await second.client().runs.list()
    expect(runs).toHaveLength(callerIds.length + runIds.length)
  })
})
