import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { WebSocket } from 'ws'
import { describe, expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const INPUTS = { topic: 'AI safety' }

describe('a server without a config', () => {
  it('A server without a config prints what it serves, then its address', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path })
    expect(server.output).toMatch(
      /sample ensembles "briefing" and "reviewed-briefing" on a scripted model that follows fixed rules/,
    )
    expect(server.output).toMatch(/\nTutti ready on http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(await (await fetch(server.url)).text()).toContain('briefing')
    const [retention, ...others] = server.errors.trim().split('\n')
    expect(JSON.parse(retention ?? '')).toMatchObject({
      level: 'info',
      message: 'Old ended runs are deleted',
      maxRetainedRuns: 1_000_000,
    })
    expect(others).toEqual([])
  })

  it('A server without a config executes a run that clients submit and follow over SSE and WebSocket', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path })
    const client = server.client()
    const socket = await greeted(server)
    const { runId } = await client.runs.submit({ inputs: INPUTS })
    const events: LoggedRunEvent[] = []
    for await (const event of client.runs.events(runId)) events.push(event)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'token').length).toBeGreaterThan(20)
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(await socket.until('run_result')).toEqual(events)
    const detail = await client.runs.get(runId)
    expect(detail).toMatchObject({
      status: 'COMPLETED',
      ensemble: 'briefing',
      tasks: [
        { name: 'researcher', status: 'COMPLETED', toolCallCount: 4 },
        { name: 'writer', status: 'COMPLETED', output: expect.stringMatching(/^# AI safety/) },
      ],
      metrics: { totalToolCalls: 5 },
      lastSeq: events.length - 1,
    })
    expect(detail.metrics.totalTokens).toBeGreaterThan(100)
  })

  it('A server without a config rejects a run with a missing or an unknown input, and names it', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path })
    const client = server.client()
    for (const [inputs, path] of [
      [{}, '/inputs/topic'],
      [{ ...INPUTS, subject: 'x' }, '/inputs/subject'],
    ] as const) {
      await expect(client.runs.submit({ inputs })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        status: 400,
        problems: [expect.objectContaining({ path })],
      })
    }
    expect((await client.runs.list()).total).toBe(0)
  })
})

describe('a restarted server', () => {
  it('A restarted server still has its earlier runs and their events', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path }
    const first = await ServerProcess.start(environment)
    const { runId } = await first.client().runs.submit({ inputs: INPUTS })
    await first.client().runs.result(runId)
    const before = await first.client().runs.get(runId)
    expect(await first.end('SIGTERM')).toBe(0)
    await using second = await ServerProcess.start(environment)
    expect(await second.client().runs.get(runId)).toEqual(before)
    expect(await second.client().runs.result(runId)).toMatchObject({ status: 'COMPLETED' })
  })

  it('A restarted server continues a run after kill -9 without repeating completed model or tool calls', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path }
    const first = await ServerProcess.start(environment)
    const { runId } = await first.client().runs.submit({ inputs: INPUTS })
    const before: LoggedRunEvent[] = []
    for await (const event of first.client().runs.events(runId)) {
      before.push(event)
      if (event.type === 'token' && event.taskName === 'writer') break
    }
    await first.end('SIGKILL')
    await using second = await ServerProcess.start(environment)
    const events: LoggedRunEvent[] = []
    for await (const event of second.client().runs.events(runId)) events.push(event)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    const attempts = events.flatMap((event) =>
      event.type === 'task_started' ? [`${event.taskName} ${event.attempt}`] : [],
    )
    expect(attempts).toEqual(['researcher 1', 'writer 1'])
    expect(events.find(({ type }) => type === 'run_resumed')).toMatchObject({
      epoch: 2,
      completedTasks: ['researcher'],
    })
    expect(events.slice(0, before.length)).toEqual(before)
    const finished = events.flatMap((event) => {
      if (event.type === 'tool_called') return [`${event.taskName} ${event.toolCallId}`]
      if (event.type !== 'llm_iteration_completed') return []
      return [`${event.taskName} ${event.attempt} ${event.iterationIndex}`]
    })
    expect(finished).toEqual([...new Set(finished)])
    const resumedAt = events.findIndex(({ type }) => type === 'run_resumed')
    const begunAgain = events
      .slice(resumedAt)
      .flatMap((event) => (event.type === 'llm_iteration_started' ? [event] : []))
    const completed = events
      .slice(0, resumedAt)
      .filter(({ type }) => type === 'llm_iteration_completed')
    expect(completed.length).toBeGreaterThan(0)
    expect(begunAgain.every(({ taskName }) => taskName === 'writer')).toBe(true)
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    expect(await second.client().runs.get(runId)).toMatchObject({
      tasks: [{ toolCallCount: 4 }, { attempt: 1 }],
      metrics: { totalToolCalls: 5 },
    })
    expect(second.errors).toContain(runId)
  })

  it('A restarted server completes the cancel of a run after kill -9', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path }
    const first = await ServerProcess.start(environment)
    const { runId } = await first.client().runs.submit({ inputs: INPUTS })
    for await (const event of first.client().runs.events(runId)) {
      if (event.type === 'token' && event.taskName === 'researcher') break
    }
    const answer = await first.client().runs.cancel(runId, { mode: 'boundary' })
    await first.end('SIGKILL')
    expect(answer).toEqual({ runId, status: 'CANCELLING' })
    await using second = await ServerProcess.start(environment)
    const events: LoggedRunEvent[] = []
    for await (const event of second.client().runs.events(runId)) events.push(event)
    expect(events.filter(({ type }) => type === 'run_cancelling')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'CANCELLED' })
    expect((await second.client().runs.get(runId)).status).toBe('CANCELLED')
  })

  it('A restarted server lets a running run end on SIGTERM, and accepts no new one', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path }
    const first = await ServerProcess.start(environment)
    const { runId } = await first.client().runs.submit({ inputs: INPUTS })
    for await (const event of first.client().runs.events(runId)) {
      if (event.type === 'token' && event.taskName === 'writer') break
    }
    const ended = first.end('SIGTERM')
    await expect
      .poll(() =>
        first
          .client()
          .runs.submit({ inputs: INPUTS })
          .catch((error: unknown) => error),
      )
      .toMatchObject({ code: 'DRAINING' })
    expect(await ended).toBe(0)
    await using second = await ServerProcess.start(environment)
    expect(await second.client().runs.get(runId)).toMatchObject({ status: 'COMPLETED' })
  })
})

describe('a server that cannot start', () => {
  it('A server that cannot start reports every problem of its environment, and leaves no files behind', async () => {
    using data = temporaryDirectory()
    const path = join(data.path, 'store')
    const { code, output, errors } = await ServerProcess.refused({
      TUTTI_DATA_DIR: path,
      PORT: 'high',
      TUTTI_ROLE: 'api',
    })
    expect(code).toBe(1)
    expect(output).toBe('')
    expect(errors).toMatch(/PORT must be .*"high"\n.*TUTTI_ROLE "api" needs DATABASE_URL/)
    expect(existsSync(path)).toBe(false)
  })

  it('A server that cannot start rejects a public address without keys, and accepts it with keys', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path, HOST: '0.0.0.0' }
    const { code, errors } = await ServerProcess.refused(environment)
    expect([code, errors]).toEqual([1, expect.stringContaining('Set TUTTI_API_KEYS')])
    const key = 'a-key-of-some-length'
    await using server = await ServerProcess.start({ ...environment, TUTTI_API_KEYS: key })
    const url = server.url.replace('0.0.0.0', '127.0.0.1')
    expect((await fetch(`${url}/api/status`)).status).toBe(401)
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${url}/api/status`, { headers })).status).toBe(200)
  })

  it('A server that cannot start rejects a store that another process uses, and a port that is in use', async () => {
    using data = temporaryDirectory()
    using other = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path })
    const second = await ServerProcess.refused({ TUTTI_DATA_DIR: data.path })
    expect([second.code, second.errors]).toEqual([
      1,
      expect.stringMatching(/process \d+ is using it/),
    ])
    const { port } = new URL(server.url)
    const third = await ServerProcess.refused({ TUTTI_DATA_DIR: other.path, PORT: port })
    expect([third.code, third.errors]).toEqual([
      1,
      expect.stringMatching(/Cannot listen.*EADDRINUSE.*choose another one \(--port or PORT/),
    ])
  })
})

/** Opens a WebSocket to the server, and collects its events. */
async function greeted(server: ServerProcess) {
  const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/ws`)
  const events: LoggedRunEvent[] = []
  const watchers: (() => void)[] = []
  const hello = Promise.withResolvers<unknown>()
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString())
    if (message.type === 'hello') hello.resolve(message)
    if ('seq' in message) events.push(message)
    for (const watcher of watchers) watcher()
  })
  expect(await hello.promise).toEqual({ type: 'hello', sharedCapabilities: expect.any(Array) })
  const until = (type: LoggedRunEvent['type']): Promise<readonly LoggedRunEvent[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.some((event) => event.type === type)) resolve(events)
      }
      watchers.push(look)
      look()
    })
  return { until }
}
