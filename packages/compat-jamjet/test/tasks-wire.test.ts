import { connect } from 'node:net'

import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'

import {
  jamjetBody,
  jamjetBytes,
  jamjetCancel,
  jamjetConversation,
  jamjetStream,
  jamjetSync,
  rawRequest,
} from './tasks-wire-jamjet.ts'
import { CALL_USD, linesOf, sendBody, openTasksServer, type TasksServer } from './tasks-server.ts'

async function isWaiting(api: TasksServer, runId: string): Promise<boolean> {
  const events = await api.runs.readEvents({ runId, from: 0, limit: 100 })
  return events.some((event) => event.type === 'task_started' && event.taskName === 'play')
}

async function findStatus(api: TasksServer, runId: string): Promise<string | undefined> {
  for await (const events of api.runs.follow({ runId, from: 0 })) {
    const last = events.at(-1)
    if (last?.type === 'run_result') return last.status
  }
  return undefined
}

describe('tasks/send, as JamJet sends it', () => {
  it('[JAM-R1] tasks/send, as JamJet sends it, returns the result and the cost of the run', async () => {
    await using api = await openTasksServer()
    const body = await jamjetSync(api.url, 'hello')
    const runId = await api.newest()
    expect(body).toEqual({
      id: runId,
      status: 'completed',
      output: 'Heard hello',
      cost_usd: CALL_USD,
      total_cost_usd: CALL_USD,
      total_tokens: 250_000,
      duration_ms: expect.any(Number),
      artifacts: [{ name: 'listen', index: 0, parts: [{ type: 'text', text: 'Heard hello' }] }],
    })
    expect((await api.detail(runId)).inputs).toEqual({ text: 'hello' })
  })

  it.each([
    ['an object with the variables', { text: 'ä "quoted"' }, 'ä "quoted"'],
    ['a text of many lines', 'a\nb', 'a\nb'],
    ['a number', 5, '5'],
    ['a list', ['a', 1], '["a",1]'],
  ])('tasks/send, as JamJet sends it, accepts %s as input', async (_, input, heard) => {
    await using api = await openTasksServer()
    expect(await jamjetSync(api.url, input)).toMatchObject({ output: `Heard ${heard}` })
  })

  it('tasks/send, as JamJet sends it, needs no input without variables, and names missing ones otherwise', async () => {
    await using api = await openTasksServer()
    api.play()
    expect(await jamjetSync(api.agent('long'), {})).toMatchObject({ status: 'completed' })
    await expect(jamjetSync(api.url, {})).rejects.toThrow(
      /Agent returned error 400: .*"path":"\/text","message":"is required/,
    )
  })

  it('[JAM-R1] tasks/send, as JamJet sends it, returns 422 with the task for a failed run, so that the node fails', async () => {
    await using api = await openTasksServer()
    const failure = await jamjetSync(api.agent('flop'), {}).then(
      () => 'a result',
      (error: Error) => error.message,
    )
    const [, status, body = ''] = /^Agent returned error (\d+): (.*)$/s.exec(failure) ?? []
    expect(status).toBe('422')
    expect(JSON.parse(body)).toMatchObject({
      id: await api.newest(),
      status: 'failed',
      output: null,
      error: 'MODEL_FAILED',
      message: expect.stringContaining('The string broke'),
      retryable: true,
      artifacts: [],
    })
  })

  it('[JAM-R1] tasks/send, as JamJet sends it, returns 422 with the outputs so far for a cancelled run', async () => {
    await using api = await openTasksServer()
    const sent = api.send('/agents/long/tasks/send', sendBody(''))
    await until('the task', async () => isWaiting(api, await api.newest()))
    const id = await api.newest()
    expect(await jamjetCancel(api.url, id)).toEqual({
      status: 200,
      body: { id, status: 'canceled' },
    })
    const response = await sent
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { id, status: 'canceled', output: null, error: 'CANCELLED', artifacts: [{ name: 'tune' }] },
    ])
  })

  it('tasks/send, as JamJet sends it, ends a conversation at its first turn, because the status is `completed`', async () => {
    await using api = await openTasksServer()
    const { turns, body } = await jamjetConversation(api.url, 'hello')
    expect([turns, body['output']]).toEqual([1, 'Heard hello'])
  })

  it('tasks/send, as JamJet sends it, accepts the bytes of a client that writes them itself, and returns JSON of known length', async () => {
    await using api = await openTasksServer()
    const url = `${api.url}/tasks/send`
    const body = String.raw`{"jsonrpc":"2.0","method":"tasks/send","params":{"message":{"parts":[{"text":"{\"text\":\"é\"}"}]}}}`
    expect(jamjetBody('tasks/send', { text: 'é' })).toBe(body)
    const answer = await rawRequest(url, jamjetBytes(url, body))
    const { value } = await answer.body.next()
    answer.socket.destroy()
    expect([answer.status, answer.head]).toEqual([
      200,
      expect.stringMatching(/content-type: application\/json/i),
    ])
    expect(JSON.parse(String(value))).toMatchObject({ output: 'Heard é' })
  })
})

describe('tasks/sendSubscribe, as JamJet sends it', () => {
  it('[JAM-R2] tasks/sendSubscribe, as JamJet sends it, sends the id first, then progress, and last the whole result', async () => {
    await using api = await openTasksServer()
    const seen: unknown[] = []
    const { chunks, id } = await jamjetStream(
      api.agent('long'),
      {},
      {
        onChunk: ({ type, task }) => {
          seen.push(type)
          if (type === 'task_started' && task === 'play') api.play()
        },
      },
    )
    expect(chunks[0]).toEqual({ id, status: 'working' })
    expect(id).toBe(await api.newest())
    expect(seen).toEqual([
      undefined,
      'task_started',
      'token',
      'usage',
      'task_completed',
      'task_started',
      'token',
      'usage',
      'tool_called',
      'token',
      'usage',
      'task_completed',
      undefined,
    ])
    expect(chunks.every(({ status }) => typeof status === 'string')).toBe(true)
    expect(chunks.at(-1)).toMatchObject({ id, status: 'completed', output: 'Played to the end' })
    expect(chunks.filter(({ type }) => type === 'token').map(({ text }) => text)).toEqual([
      'Played to the end',
      'One moment',
      'Played to the end',
    ])
    expect(chunks.find(({ type }) => type === 'tool_called')).toMatchObject({
      task: 'play',
      tool: 'wait',
      outcome: 'SUCCESS',
    })
  })

  it('[JAM-R2] tasks/sendSubscribe, as JamJet sends it, sends the first line before any event', async () => {
    await using api = await openTasksServer({ limits: { maxConcurrentRuns: 1 } })
    await api.runs.submit({ ensemble: 'long' })
    const first = Promise.withResolvers<unknown>()
    const stream = jamjetStream(api.agent('echo'), 'x', { onChunk: first.resolve })
    expect(await first.promise).toEqual({ id: await api.newest(), status: 'working' })
    api.play()
    expect((await stream).chunks.at(-1)).toMatchObject({ status: 'completed' })
  })

  it('tasks/sendSubscribe, as JamJet sends it, sends costs that add up to the cost of the run', async () => {
    await using api = await openTasksServer()
    api.play()
    const { cost, chunks, id = '' } = await jamjetStream(api.agent('long'), {})
    expect(cost).toBe(3 * CALL_USD)
    expect((await api.detail(id)).metrics.costUsd).toBe(3 * CALL_USD)
    const totals = chunks
      .filter((chunk) => 'cost_usd' in chunk)
      .map((chunk) => chunk['total_cost_usd'])
    expect(totals).toEqual([CALL_USD, 2 * CALL_USD, 3 * CALL_USD])
    expect(chunks.at(-1)).toMatchObject({ total_cost_usd: 3 * CALL_USD })
    expect(chunks.at(-1)).not.toHaveProperty('cost_usd')
  })

  it('[JAM-R4] tasks/sendSubscribe, as JamJet sends it, lets a caller with an exhausted budget cancel in mid-stream, and the run stops', async () => {
    await using api = await openTasksServer()
    const {
      reason,
      cost,
      id = '',
    } = await jamjetStream(
      api.agent('long'),
      {},
      {
        maxCostUsd: 1.5 * CALL_USD,
      },
    )
    expect([reason, cost]).toEqual(['budget_exceeded', 2 * CALL_USD])
    expect((await api.detail(id)).status).toBe('CANCELLED')
  })

  it('[JAM-R1] tasks/sendSubscribe, as JamJet sends it, sends in its last line that the run failed or was cancelled', async () => {
    await using api = await openTasksServer()
    const failed = await jamjetStream(api.agent('flop'), {})
    expect(failed.chunks.at(-1)).toMatchObject({ status: 'failed', error: 'MODEL_FAILED' })
    expect(failed.chunks.map(({ type }) => type)).toContain('task_failed')
    const cancelled = await jamjetStream(
      api.agent('long'),
      {},
      {
        onChunk: async ({ type, tool, task }) => {
          if (type !== 'task_started' || task !== 'play' || tool !== undefined) return
          await jamjetCancel(api.url, await api.newest())
        },
      },
    )
    expect(cancelled.chunks.map(({ type }) => type)).toContain('cancelling')
    expect(cancelled.chunks.at(-1)).toMatchObject({ status: 'canceled', error: 'CANCELLED' })
  })

  it('tasks/sendSubscribe, as JamJet sends it, returns a refusal as an HTTP error, not as a stream', async () => {
    await using api = await openTasksServer()
    await expect(jamjetStream(api.url, {})).rejects.toThrow('BAD_REQUEST')
    await expect(jamjetStream(api.agent('nobody'), {})).rejects.toThrow('NOT_FOUND')
  })

  it.each([
    [15_000, 10_000],
    [4_000, 4_000],
  ])(
    'tasks/sendSubscribe, as JamJet sends it, with a heartbeat of %i ms sends an empty line after %i ms',
    async (heartbeatMs, quietMs) => {
      const clock = fakeClock()
      await using api = await openTasksServer({ clock, heartbeatMs })
      let signs = 0
      const stream = jamjetStream(
        api.agent('long'),
        {},
        {
          onLine: (line) => {
            if (line === '') signs += 1
          },
        },
      )
      await until('the task', async () => isWaiting(api, await api.newest()))
      // Webhooks, audit trail and stream wait for the clock, which has not advanced so far.
      await until('the task', () => clock.pending >= 3)
      for (let sign = 1; sign <= 3; sign += 1) {
        await clock.advance(100)
        await clock.advance(quietMs - 101)
        expect(signs).toBe(sign - 1)
        await clock.advance(1)
        await until('the task', () => signs === sign)
      }
      api.play()
      const { lines } = await stream
      expect(lines.filter((line) => line === '')).toHaveLength(3)
      expect(lines.at(-1)).toContain('"completed"')
    },
  )

  it('tasks/sendSubscribe, as JamJet sends it, sends many streams at once, each with all events of one run', async () => {
    await using api = await openTasksServer({
      limits: { maxConcurrentRuns: 4, maxQueuedRuns: 100 },
    })
    const streams = await Promise.all(
      Array.from({ length: 40 }, (_, index) => jamjetStream(api.url, `voice ${index}`)),
    )
    expect(streams.map(({ chunks }) => chunks.at(-1)?.['output'])).toEqual(
      streams.map((_, index) => `Heard voice ${index}`),
    )
    for (const { chunks, cost, id } of streams) {
      expect([chunks[0]?.['id'], chunks.at(-1)?.['id'], cost]).toEqual([id, id, CALL_USD])
    }
    expect(new Set(streams.map(({ id }) => id)).size).toBe(40)
  })

  it('tasks/sendSubscribe, as JamJet sends it, is not slowed down by a reader that does not read, and neither are others', async () => {
    await using api = await openTasksServer()
    const url = `${api.agent('long')}/tasks/sendSubscribe`
    const { hostname, port } = new URL(url)
    const idle = connect(Number(port), hostname)
    idle.pause()
    idle.write(jamjetBytes(url, jamjetBody('tasks/sendSubscribe', {})))
    await until('the task', async () => (await api.newest()) !== '')
    const slow = await api.newest()
    await until('the task', () => isWaiting(api, slow))
    api.play()
    expect(await findStatus(api, slow)).toBe('COMPLETED')
    expect((await jamjetStream(api.url, 'x')).chunks.at(-1)).toMatchObject({ status: 'completed' })
    idle.destroy()
  })
})

describe('a caller that disconnects', () => {
  it('[JAM-R3] A caller that disconnects from tasks/send without an id leaves a run that is cancelled after the grace period', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const gone = new AbortController()
    const sent = fetch(`${api.agent('long')}/tasks/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: jamjetBody('tasks/send', {}),
      signal: gone.signal,
    }).catch(() => 'gone')
    await until('the task', async () => isWaiting(api, await api.newest()))
    const runId = await api.newest()
    const before = clock.pending
    gone.abort()
    expect(await sent).toBe('gone')
    // Waits for the timer of the grace period.
    await until('the task', () => clock.pending === before + 1)
    await clock.advance(29_999)
    expect((await api.detail(runId)).status).toBe('RUNNING')
    await clock.advance(1)
    expect(await findStatus(api, runId)).toBe('CANCELLED')
  })

  it('[JAM-R3] A caller that disconnects does not change a run that ends within the grace period', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const gone = new AbortController()
    const { signal } = gone
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal }
    const body = jamjetBody('tasks/send', {})
    const sent = fetch(`${api.agent('long')}/tasks/send`, { ...init, body }).catch(() => 'gone')
    await until('the task', async () => isWaiting(api, await api.newest()))
    const runId = await api.newest()
    const before = clock.pending
    gone.abort()
    await sent
    await until('the task', () => clock.pending === before + 1)
    api.play()
    expect(await findStatus(api, runId)).toBe('COMPLETED')
    await until('the task', () => clock.pending === before)
  })

  it.each([
    ['an idempotency key', { 'idempotency-key': 'k' }, {}],
    ['its own task id', {}, { id: 'my-task' }],
  ])(
    '[JAM-R3] A caller that disconnects and sent %s can send again, and finds its run',
    async (_, headers, params) => {
      const clock = fakeClock()
      await using api = await openTasksServer({ clock })
      const gone = new AbortController()
      const url = `${api.agent('long')}/tasks/send`
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(sendBody('', params)),
      }
      const sent = fetch(url, { ...init, signal: gone.signal }).catch(() => 'gone')
      await until('the task', async () => isWaiting(api, await api.newest()))
      const runId = await api.newest()
      gone.abort()
      await sent
      await clock.advance(120_000)
      expect((await api.detail(runId)).status).toBe('RUNNING')
      const again = 'id' in params ? { ...init, body: JSON.stringify({ params }) } : init
      const answer = fetch(url, again)
      api.play()
      expect(await (await answer).json()).toMatchObject({ id: runId, status: 'completed' })
    },
  )

  it('[JAM-R3] A caller that disconnects from a stream after its first line changes nothing, and can resume with the id', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const url = `${api.agent('long')}/tasks/sendSubscribe`
    const { body, socket } = await rawRequest(
      url,
      jamjetBytes(url, jamjetBody('tasks/sendSubscribe', {})),
    )
    const { value } = await body.next()
    const { id } = JSON.parse(String(value).split('\n')[0] ?? '')
    socket.destroy()
    await until('the task', () => isWaiting(api, id))
    await clock.advance(120_000)
    expect((await api.detail(id)).status).toBe('RUNNING')
    const again = api.send('/tasks/sendSubscribe', { params: { id } })
    api.play()
    const lines = await linesOf(await again)
    expect(lines.filter(({ type }) => type === 'token').map(({ text }) => text)).toEqual([
      'Played to the end',
      'One moment',
      'Played to the end',
    ])
    expect(lines.at(-1)).toMatchObject({ id, status: 'completed' })
  })

  it('[JAM-R3] A caller that disconnects from a stream before its first line has not received an id', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const submit = api.runs.submit.bind(api.runs)
    const taken = Promise.withResolvers<string>()
    const gate = Promise.withResolvers<void>()
    api.runs.submit = async (request) => {
      const run = await submit(request)
      taken.resolve(run.runId)
      await gate.promise
      return run
    }
    const url = `${api.agent('long')}/tasks/sendSubscribe`
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(jamjetBytes(url, jamjetBody('tasks/sendSubscribe', {})))
    const runId = await taken.promise
    socket.destroy()
    // When later requests are handled, the server has noticed the closed connection.
    for (let count = 0; count < 3; count += 1) await api.get('/api/status')
    const before = clock.pending
    gate.resolve()
    await until('the task', () => clock.pending >= before + 2)
    await clock.advance(30_000)
    expect(await findStatus(api, runId)).toBe('CANCELLED')
  })

  it('[JAM-R3] A server that stops hands over the runs of its disconnected callers instead of cancelling them', async () => {
    const clock = fakeClock()
    await using api = await openTasksServer({ clock })
    const gone = new AbortController()
    const sent = fetch(`${api.agent('long')}/tasks/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: jamjetBody('tasks/send', {}),
      signal: gone.signal,
    }).catch(() => 'gone')
    await until('the task', async () => isWaiting(api, await api.newest()))
    const runId = await api.newest()
    const end = findStatus(api, runId)
    const closed = api.runs.close({ drainTimeoutMs: 10_000 })
    const before = clock.pending
    gone.abort()
    await sent
    // When later requests are handled, the server has noticed the closed connection.
    for (let count = 0; count < 3; count += 1) await api.get('/api/status')
    expect(clock.pending).toBe(before)
    api.play()
    expect(await end).toBe('COMPLETED')
    await closed
  })
})
