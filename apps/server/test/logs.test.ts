/** Tests the log of the built server. */
import { describe, expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

const KEY = 'ops-key-that-is-a-secret'
const INPUT = 'what only the run may know'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

type Line = Readonly<Record<string, unknown>>

describe('the log of a server', () => {
  it('The log of a server has a JSON line for the outcome of each run and request, without content', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({
      TUTTI_DATA_DIR: data.path,
      TUTTI_API_KEYS: `ops:${KEY}`,
      LOG_LEVEL: 'debug',
    })
    const authorization = `Bearer ${KEY}`
    const headers = {
      authorization,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    }
    const body = JSON.stringify({ inputs: { topic: INPUT } })
    const runIds = await Promise.all([
      submit(server, { headers, body }),
      submit(server, { headers, body }),
    ])
    for (const runId of runIds) {
      const path = `/api/runs/${runId}/events`
      await (await fetch(`${server.url}${path}`, { headers })).text()
    }
    await fetch(`${server.url}/api/runs?q=${encodeURIComponent(INPUT)}`, { headers })
    await fetch(`${server.url}/api/runs`, {
      headers: { authorization: 'Bearer not-the-key-at-all' },
    })
    const metrics = await (await fetch(`${server.url}/metrics`, { headers })).text()
    expect(metrics).toMatch(
      /^tutti_runs_ended_total\{ensemble="briefing",status="COMPLETED",code="none"\} 2$/m,
    )
    expect(metrics).toMatch(/^tutti_build_info\{version="\d+\.\d+\.\d+[^"]*",.*role="all"\} 1$/m)
    await server.end('SIGTERM')

    const lines = parseLines(server.errors)
    expect(server.errors).not.toContain(KEY)
    expect(server.errors).not.toContain(INPUT)
    for (const line of lines) {
      expect(Object.keys(line).slice(0, 3)).toEqual(['time', 'level', 'message'])
      expect(Number.isNaN(Date.parse(String(line['time'])))).toBe(false)
    }
    for (const runId of runIds) {
      const told = lines.filter((line) => line['runId'] === runId)
      const messages = told.map(({ message }) => message)
      expect(messages.filter((text) => String(text).startsWith('Run '))).toEqual([
        'Run accepted',
        'Run started',
        'Run ended',
      ])
      expect(messages.filter((text) => text === 'Task completed')).toHaveLength(2)
      expect(find(told, 'Run accepted')).toMatchObject({
        level: 'info',
        actor: 'ops',
        ensemble: 'briefing',
      })
      expect(find(told, 'Run ended')).toMatchObject({
        level: 'info',
        status: 'COMPLETED',
        durationMs: expect.any(Number),
        totalTokens: expect.any(Number),
      })
      expect(find(told, 'Task completed')).toMatchObject({ level: 'debug', taskName: 'researcher' })
      for (const line of told.filter(({ message }) => String(message).startsWith('Run '))) {
        expect(line['traceId']).toBe(TRACE)
      }
    }
    const requests = lines.filter(({ message }) => message === 'Request answered')
    expect(requests.map(({ route, status, actor }) => [route, status, actor])).toEqual([
      ['submitRun', 202, 'ops'],
      ['submitRun', 202, 'ops'],
      ['streamRunEvents', expect.any(Number), 'ops'],
      ['streamRunEvents', expect.any(Number), 'ops'],
      ['listRuns', 200, 'ops'],
      ['listRuns', 401, undefined],
      ['getMetrics', 200, 'ops'],
    ])
    expect(requests[0]).toMatchObject({
      level: 'debug',
      method: 'POST',
      durationMs: expect.any(Number),
      traceId: TRACE,
    })
  })

  it('The log of a server omits lines below LOG_LEVEL', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: data.path, LOG_LEVEL: 'warn' })
    const headers = { 'content-type': 'application/json' }
    const runId = await submit(server, { headers, body: '{"inputs":{"topic":"tea"}}' })
    await (await fetch(`${server.url}/api/runs/${runId}/events`)).text()
    await server.end('SIGTERM')
    expect(server.errors).toBe('')
  })
})

async function submit(server: ServerProcess, init: RequestInit): Promise<string> {
  const response = await fetch(`${server.url}/api/runs`, { method: 'POST', ...init })
  const { runId } = (await response.json()) as { runId: string }
  return runId
}

function parseLines(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

function find(lines: readonly Line[], message: string): Line | undefined {
  return lines.find((line) => line['message'] === message)
}
