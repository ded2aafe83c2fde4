/**
 * Cancels a run with four calls in flight: a program with a child process, a slow HTTP request, an agent to which another
 * one delegates, and a tool that ignores its signal.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTextTool, type AgentTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'

// Imported by path, because only this test depends on that package.
import {
  agent,
  ensemble,
  task,
  type Ensemble,
  type RunHandle,
  type RunOptions,
} from '../../ensemble/src/index.ts'
import { httpTool, processTool } from '../src/index.ts'
import { isRunning, untilGone, untilWritten } from '../../../tooling/test-kit/processes.ts'
import { until } from '../../../tooling/test-kit/wait.ts'

type RunEvent = Parameters<NonNullable<RunOptions['onEvent']>>[0]

let clock: FakeClock
let folder: string
let server: Server
/** Received requests and closed connections. */
let connections: { asked: number; closed: number }
const rejections: unknown[] = []
const note = (reason: unknown): void => {
  rejections.push(reason)
}

beforeEach(async () => {
  clock = fakeClock()
  folder = mkdtempSync(join(tmpdir(), 'tutti-cancel-'))
  connections = { asked: 0, closed: 0 }
  process.on('unhandledRejection', note)
  server = createServer((request) => {
    connections.asked += 1
    request.socket.on('close', () => {
      connections.closed += 1
    })
    // The server never responds.
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
  process.off('unhandledRejection', note)
})

function url(): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens on a port')
  return `http://127.0.0.1:${address.port}/slow`
}

/** Returns a program that writes its id and that of its child, and takes a moment to stop. */
function program(): AgentTool {
  const path = join(folder, 'pids')
  const script = `trap 'sleep 0.3; exit 0' TERM; sleep 300 & echo "$$ $!" > '${path}'; wait; wait`
  return processTool({
    name: 'program',
    description: 'Hangs',
    command: 'sh',
    args: ['-c', script],
    timeoutMs: 300_000,
  })
}

function deaf(): AgentTool {
  return defineTextTool({
    name: 'deaf',
    description: 'Works for a minute, come what may',
    timeoutMs: 300_000,
    async execute() {
      await sleep(clock, 60_000)
      throw new Error('Nobody listens')
    },
  })
}

function team(tools: readonly AgentTool[]): Ensemble {
  const calls = tools.map(({ name }) => ({ name, arguments: { input: '' } }))
  const delegate = {
    name: 'delegate_task',
    arguments: { agentRole: 'Clerk', taskDescription: 'Write' },
  }
  return ensemble({
    name: 'team',
    workflow: 'PARALLEL',
    tasks: [
      task({
        name: 'tools',
        description: 'Call them',
        tools,
        model: scriptedModel([{ toolCalls: calls }]),
      }),
      task({
        name: 'boss',
        description: 'Delegate',
        agent: agent({ role: 'Boss', goal: 'Lead', allowDelegation: true }),
        model: scriptedModel([{ toolCalls: [delegate] }]),
      }),
      task({
        name: 'later',
        description: 'Write',
        context: ['tools'],
        agent: agent({ role: 'Clerk', goal: 'Write' }),
        model: scriptedModel(() => 'word '.repeat(1_000), { clock, delayMs: 10 }),
      }),
    ],
  })
}

interface Started {
  readonly handle: RunHandle
  readonly events: readonly RunEvent[]
  /** Process ids of the program and its child. */
  readonly pids: readonly number[]
}

/** Starts the run, and waits until everything is in flight. */
async function start(tools: readonly AgentTool[]): Promise<Started> {
  const events: RunEvent[] = []
  const http = httpTool({ name: 'http', description: 'Slow', url: url(), timeoutMs: 300_000 })
  const made = team([program(), http, ...tools])
  const handle = made.start({}, { clock, onEvent: (event) => events.push(event) })
  await clock.advance(0)
  const pids = (await untilWritten(join(folder, 'pids'))).split(' ').map(Number)
  await until('the request', () => connections.asked === 1)
  await clock.advance(50)
  expect(events.some((event) => event.type === 'token' && event.taskName === 'boss/Clerk')).toBe(
    true,
  )
  expect(pids.map(isRunning)).toEqual([true, true])
  return { handle, events, pids }
}

function failed(events: readonly RunEvent[]): readonly (readonly unknown[])[] {
  return events.flatMap((event) =>
    event.type === 'task_failed' ? [[event.taskName, event.code]] : [],
  )
}

/** Names of the tools whose calls have ended. */
function called(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'tool_called' && ['program', 'http'].includes(event.toolName)
      ? [event.toolName]
      : [],
  )
}

it('[REMOTE-O3] A cancelled run reports CANCELLED when everything has stopped', async () => {
  const { handle, events, pids } = await start([])
  expect(handle.cancel()).toBe(true)
  expect(handle.snapshot().status).toBe('CANCELLING')
  let atTheEnd: readonly boolean[] = []
  const result = await handle.result.then((ended) => {
    atTheEnd = pids.map(isRunning)
    return ended
  })
  expect(result.status).toBe('CANCELLED')
  expect(atTheEnd).toEqual([false, false])
  await until('the end of the connection', () => connections.closed === 1)
  expect(failed(events)).toEqual([
    ['boss/Clerk', 'CANCELLED'],
    ['boss', 'CANCELLED'],
    ['tools', 'CANCELLED'],
  ])
  const cancelledAt = events.findIndex(({ type }) => type === 'run_cancelling')
  expect(events.slice(cancelledAt).filter(({ type }) => type === 'token')).toEqual([])
  expect(clock.pending).toBe(0)
  expect(rejections).toEqual([])
})

it('A cancelled run names a tool that ignores its signal after 5 s, when the others have long stopped', async () => {
  const { handle, events, pids } = await start([deaf()])
  handle.cancel()
  for (const pid of pids) await untilGone(pid)
  await until('the end of the connection', () => connections.closed === 1)
  await until('the end of the delegated task', () => failed(events).length === 2)
  await until('the end of both calls', () => called(events).length === 2)
  await clock.advance(4_999)
  expect(handle.snapshot().status).toBe('CANCELLING')
  expect(events.at(-1)?.type).not.toBe('run_result')
  await clock.advance(1)
  expect((await handle.result).status).toBe('CANCELLED')
  const last = events.findLast((event) => event.type === 'task_failed')
  expect(last).toMatchObject({
    taskName: 'tools',
    code: 'CANCELLED',
    reason: 'Tool "deaf" was abandoned: it ignored its signal',
  })
  const count = events.length
  await clock.advance(120_000)
  expect(events).toHaveLength(count)
  expect(clock.pending).toBe(0)
  expect(rejections).toEqual([])
})
