/** [CLIENT-R6] `runs.run`: a submission whose response has the events of its run. */
import { describe, expect, it } from 'vitest'

import { createClient, type ClientOptions, type TuttiClient } from '../src/index.ts'
import { recordingClock } from './recording-clock.ts'
import { ENDED, EVENTS_PATH, frame, frames, LOG, RUN_ID } from './sample-run.ts'
import { wireServer, type Exchange, type Handler, type WireServer } from './wire-server.ts'

const SUBMIT_URL = '/api/runs?events=run_result&repeats=omit'
const RESULT_URL = `${EVENTS_PATH}?events=run_result&repeats=omit`
const RUN_URL = `/api/runs/${RUN_ID}`

const AWAY = { error: 'STORE_UNAVAILABLE', message: 'The store is away' }

function eagerClient({ url }: WireServer, options: Partial<ClientOptions> = {}): TuttiClient {
  const clock = recordingClock({ skipUpToMs: 10_000 })
  return createClient({ baseUrl: url, clock, random: () => 1, ...options })
}

/** Serves the run; `submit` answers submissions. */
function serving(submit: Handler): Handler {
  return async (exchange, index) => {
    if (exchange.url === SUBMIT_URL) return submit(exchange, index)
    if (exchange.url === RUN_URL) exchange.json(200, ENDED)
    else await sendResult(exchange.open())
  }
}

async function sendResult(exchange: Exchange): Promise<void> {
  await exchange.write(frames(LOG.slice(-1)))
  exchange.end()
}

const named = { 'tutti-run-id': RUN_ID }

describe('[CLIENT-R6] runs.run', () => {
  it('runs.run submits the run and receives its result in one request, then reads the run', async () => {
    await using server = await wireServer(serving((exchange) => sendResult(exchange.open(named))))
    const end = await eagerClient(server).runs.run({ inputs: { a: 'b' } }, { idempotencyKey: 'k' })
    expect(end).toMatchObject({ status: 'COMPLETED', outputs: [{ taskName: 'write' }] })
    const [first, ...others] = server.exchanges
    expect([first?.method, first?.url, first?.body]).toEqual([
      'POST',
      SUBMIT_URL,
      '{"inputs":{"a":"b"}}',
    ])
    expect(first?.headers).toMatchObject({ accept: 'text/event-stream', 'idempotency-key': 'k' })
    expect(others.map(({ url }) => url)).toEqual([RUN_URL])
  })

  it('runs.run follows the run, and does not submit it again, when the response is cut', async () => {
    await using server = await wireServer(
      serving(async (exchange) => {
        await exchange.open(named).write(': events follow\n\n')
        exchange.drop()
      }),
    )
    const end = await eagerClient(server).runs.run({})
    expect(end.status).toBe('COMPLETED')
    expect(server.exchanges.map(({ url }) => url)).toEqual([SUBMIT_URL, RESULT_URL, RUN_URL])
  })

  it('runs.run fails when the submission is lost and has no idempotency key', async () => {
    await using server = await wireServer(serving((exchange) => exchange.drop()))
    await expect(eagerClient(server).runs.run({})).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    expect(server.exchanges).toHaveLength(1)
  })

  it('runs.run repeats a lost submission that has an idempotency key up to twice', async () => {
    await using server = await wireServer(serving((exchange) => exchange.json(503, AWAY)))
    const { runs } = eagerClient(server)
    await expect(runs.run({}, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    expect(server.exchanges.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'k',
      'k',
      'k',
    ])
  })

  it('runs.run fails at once when the server refuses the submission', async () => {
    const refused = { error: 'INVALID_ENSEMBLE', message: 'No ensemble "x"' }
    await using server = await wireServer(serving((exchange) => exchange.json(400, refused)))
    const { runs } = eagerClient(server)
    await expect(runs.run({}, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'INVALID_ENSEMBLE',
    })
    expect(server.exchanges).toHaveLength(1)
  })

  it('runs.run fails when the response does not name the run', async () => {
    await using server = await wireServer(
      serving(async (exchange) => {
        await exchange.open().write(LOG.map(frame).join(''))
        exchange.end()
      }),
    )
    await expect(eagerClient(server).runs.run({})).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('Tutti-Run-Id'),
    })
  })
})
