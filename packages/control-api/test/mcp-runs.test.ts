import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { connectClient, MODES, runIdOf, textOf } from './mcp-client.ts'
import { openServer } from './open-server.ts'

const BACH = { composer: 'Bach', hall: 'A' }

/** Two tasks: the second fails on request, and otherwise returns an object. */
function quartet() {
  const model = scriptedModel(({ messages }) => {
    const text = JSON.stringify(messages)
    if (text.includes('Rehearse')) return 'Rehearsed'
    if (text.includes('Disaster')) throw new Error('The hall is closed')
    return '{"stars":5}'
  })
  const rehearse = task({ name: 'rehearse', description: 'Practise. Rehearse' })
  const rate = task({
    name: 'rate',
    description: 'Rate {piece}',
    retries: 0,
    output: Type.Object({ stars: Type.Integer() }),
  })
  return ensemble({
    name: 'Kronos Quartet',
    description: 'Plays and rates',
    tasks: [rehearse, rate],
    model,
    modelRetries: 0,
  })
}

/** Ensemble whose tool waits for the test, or until its signal aborts. */
function waitingEnsemble() {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<string>()
  let report = (_message: string): void => undefined
  const hold = defineTool({
    name: 'hold',
    description: 'Holds the note',
    input: Type.Object({}),
    execute(_input, { signal, reportProgress }) {
      reportProgress({ message: 'breathing in', fraction: 0.1 })
      report = reportProgress
      signal.addEventListener('abort', () => {
        aborted.resolve()
        gate.resolve('stopped')
      })
      started.resolve()
      return gate.promise
    },
  })
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Held' : { toolCalls: [{ name: 'hold', arguments: {} }] },
  )
  const sing = task({ name: 'sing', description: 'Sing', tools: [hold] })
  return {
    solo: ensemble({ name: 'solo', tasks: [sing], model }),
    started: started.promise,
    aborted: aborted.promise,
    finish: gate.resolve,
    report: (message: string) => report(message),
  }
}

describe.each(MODES)('an ensemble over MCP, with a client of mode %s', (mode) => {
  it('An ensemble over MCP is a tool with its template variables as input, under a valid name', async () => {
    await using api = await openServer({ ensembles: [quartet()] })
    await using peer = await connectClient(api, { mode })
    const { tools } = await peer.client.listTools()
    expect(tools.at(-1)).toMatchObject({
      name: 'Kronos_Quartet',
      title: 'Kronos Quartet',
      description: expect.stringContaining('Plays and rates'),
      inputSchema: {
        type: 'object',
        properties: {
          piece: { type: 'string', description: expect.stringContaining('Rate {piece}') },
        },
        required: ['piece'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: { structured: { type: 'object', required: ['stars'] } },
        required: ['output', 'runId', 'status'],
      },
    })
  })

  it('[GW-F1] An ensemble over MCP is called as one run, whose result is the result of the call', async () => {
    await using api = await openServer({ ensembles: [quartet()] })
    await using peer = await connectClient(api, { mode })
    // Lists the tools, so that the client validates the result by the schema.
    await peer.client.listTools()
    const result = await peer.call('Kronos_Quartet', { piece: 'Opus 1' })
    const { runs } = await api.runs.list({ limit: 10, offset: 0 })
    expect(runs).toMatchObject([{ ensemble: 'Kronos Quartet', tags: { mcp: 'Kronos_Quartet' } }])
    const record = await api.runs.record(runs[0]?.runId ?? '')
    expect(record?.inputs).toEqual({ piece: 'Opus 1' })
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '{"stars":5}' }],
      structuredContent: {
        output: '{"stars":5}',
        runId: runs[0]?.runId,
        status: 'COMPLETED',
        structured: { stars: 5 },
      },
    })
    expect(result.isError).toBeUndefined()
  })

  it('[GW-F3] An ensemble over MCP reports its progress in increasing numbers', async () => {
    await using api = await openServer()
    await using peer = await connectClient(api, { mode })
    api.play()
    await peer.call('band', BACH)
    const steps = peer.notes.map(({ progress }) => progress)
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b))
    expect(peer.notes.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['"tune" started', '"tune" completed: 1 of 2']),
    )
    expect(new Set(peer.notes.map(({ total }) => total))).toEqual(new Set([2]))
  })

  it('An ensemble over MCP passes on the progress of its tools', async () => {
    const { solo, started, finish } = waitingEnsemble()
    await using api = await openServer({ ensembles: [solo] })
    await using peer = await connectClient(api, { mode })
    const call = peer.call('solo')
    await started
    await peer.heard('"sing" hold: breathing in')
    finish('held')
    expect(textOf(await call)).toBe('Held')
  })

  it('An ensemble over MCP reports progress at intervals while idle, so that its client keeps waiting', async () => {
    const clock = fakeClock()
    const { solo, started, finish, report } = waitingEnsemble()
    await using api = await openServer({ ensembles: [solo], clock, heartbeatMs: 1_000 })
    await using peer = await connectClient(api, { mode })
    const call = peer.call('solo')
    await started
    await peer.heard('breathing in')
    const beats = () =>
      peer.notes.filter(({ message }) => message === 'running: 0 of 1 tasks completed').length
    await clock.advance(999)
    report('still breathing')
    await peer.heard('still breathing')
    await clock.advance(999)
    report('in full voice')
    await peer.heard('in full voice')
    expect(beats()).toBe(0)
    await clock.advance(1_000)
    await peer.heard('running: 0 of 1 tasks completed')
    await clock.advance(2_000)
    finish('held')
    await call
    expect(beats()).toBe(3)
  })

  it('An ensemble over MCP refuses invalid arguments without starting a run', async () => {
    await using api = await openServer()
    await using peer = await connectClient(api, { mode })
    const result = await peer.call('band', { composer: 1, choir: 'B' })
    expect([result.isError, textOf(result)]).toEqual([
      true,
      'Invalid arguments of "band": /hall is required: a task uses this template variable; ' +
        '/composer must be a string, got 1; ' +
        '/choir is not a known input (known: composer, hall)',
    ])
    expect((await api.runs.list({ limit: 10, offset: 0 })).runs).toEqual([])
  })

  it('An ensemble over MCP returns an error with the reason and the completed outputs when it fails', async () => {
    await using api = await openServer({ ensembles: [quartet()] })
    await using peer = await connectClient(api, { mode })
    await peer.client.listTools()
    const result = await peer.call('Kronos_Quartet', { piece: 'Disaster' })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        status: 'FAILED',
        output: 'Rehearsed',
        error: expect.stringContaining('The hall is closed'),
        completedTasks: [{ taskName: 'rehearse', output: 'Rehearsed' }],
      },
    })
    expect(textOf(result)).toMatch(/The run failed \(run-.*The hall is closed[^]*Rehearsed/)
  })

  it('[GW-F2] An ensemble over MCP is cancelled with its tool when its client abandons the call', async () => {
    const { solo, started, aborted } = waitingEnsemble()
    await using api = await openServer({ ensembles: [solo] })
    await using peer = await connectClient(api, { mode })
    const patience = new AbortController()
    const call = peer.call('solo', {}, patience.signal)
    await started
    patience.abort()
    await expect(call).rejects.toThrow('abort')
    await aborted
    expect(await findOnlyEnd(api.runs)).toBe('CANCELLED')
  })

  it('An ensemble over MCP returns an error when another caller cancels it', async () => {
    const { solo, started } = waitingEnsemble()
    await using api = await openServer({ ensembles: [solo] })
    await using peer = await connectClient(api, { mode })
    const call = peer.call('solo')
    await started
    const { runs } = await api.runs.list({ limit: 1, offset: 0 })
    await api.runs.send(runs[0]?.runId ?? '', { kind: 'cancel' })
    expect(await call).toMatchObject({ isError: true, structuredContent: { status: 'CANCELLED' } })
  })

  it('An ensemble over MCP runs 20 times at once, each call with its own run', async () => {
    await using api = await openServer({ ensembles: [quartet()] })
    await using peer = await connectClient(api, { mode })
    const calls = Array.from({ length: 20 }, (_, index) =>
      peer.call('Kronos_Quartet', { piece: `Opus ${index}` }),
    )
    const runIds = (await Promise.all(calls)).map(runIdOf)
    expect(new Set(runIds).size).toBe(20)
  })
})

/** Returns the status of the only run of a store when it has ended. */
async function findOnlyEnd(runs: Awaited<ReturnType<typeof openServer>>['runs']) {
  const [run] = (await runs.list({ limit: 1, offset: 0 })).runs
  for await (const events of runs.follow({ runId: run?.runId ?? '', from: 0 })) {
    const end = events.find((event) => event.type === 'run_result')
    if (end?.type === 'run_result') return end.status
  }
  return undefined
}

describe('an ensemble over MCP, on a server that stops', () => {
  it('[GW-F2] An ensemble over MCP on a server that stops is cancelled when an older client sends a cancellation', async () => {
    const { solo, started, aborted } = waitingEnsemble()
    await using api = await openServer({ ensembles: [solo] })
    await using peer = await connectClient(api, { mode: 'legacy' })
    const patience = new AbortController()
    const call = peer.call('solo', {}, patience.signal)
    await started
    const closed = api.runs.close({ drainTimeoutMs: 20_000 })
    expect(api.runs.status.state).toBe('DRAINING')
    patience.abort()
    await expect(call).rejects.toThrow('abort')
    await aborted
    await closed
  })
})

describe('an ensemble over MCP with the name of a tool', () => {
  it('An ensemble over MCP with the name of a tool is listed as run_ and its name', async () => {
    const band = ensemble({
      name: 'band',
      tasks: [task({ name: 'a', description: 'A' })],
      model: scriptedModel(() => 'The ensemble'),
    })
    const tool = defineTool({
      name: 'band',
      description: 'A tool',
      input: Type.Object({}),
      execute: () => 'The tool',
    })
    await using api = await openServer({ ensembles: [band], tools: toolCatalog([tool]) })
    await using peer = await connectClient(api)
    expect(textOf(await peer.call('band'))).toBe('The tool')
    expect(textOf(await peer.call('run_band'))).toBe('The ensemble')
  })
})
