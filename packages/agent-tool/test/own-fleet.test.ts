/** Runs that call runs of the same server, or of another server on the same database, with one slot for all of them. */
import { serveControlApi } from '@tutti/control-api'
import { toolCatalog } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { freePort } from '../../../tooling/postgres/free-port.ts'
import { CONNECTORS, EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { STORES } from '../../runs/test/stores.ts'
import { allEvents } from '../../runs/test/waiting-ensemble.ts'
import { agentTool } from '../src/index.ts'

/** Returns the address of an ensemble on the server at that port, for each wire. */
const WIRES = {
  peer: (port: number, name: string) => ({ agent: `ws://127.0.0.1:${port}#task:${name}` }),
  a2a: (port: number, name: string) => ({
    agent: `http://127.0.0.1:${port}/agents/${name}`,
    wire: 'a2a' as const,
  }),
  tasks: (port: number, name: string) => ({
    agent: `http://127.0.0.1:${port}/agents/${name}`,
    wire: 'tasks' as const,
  }),
  mcp: (port: number, name: string) => ({ agent: `mcp+http://127.0.0.1:${port}/mcp#${name}` }),
}

type WireAddress = (typeof WIRES)[keyof typeof WIRES]

/** Creates an ensemble of two concurrent tasks that each ask another ensemble and repeat its answer. */
function createAsking(name: string, other: string, address: ReturnType<WireAddress>) {
  const tool = agentTool({
    ...address,
    connectors: CONNECTORS,
    name: 'ask',
    description: `Asks ${other}`,
    timeoutMs: 30_000,
    idempotent: true,
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool'
      ? `${name} heard ${last.content}`
      : { toolCalls: [{ name: 'ask', arguments: { input: 'gold' } }] }
  })
  const asking = ensemble({
    name,
    workflow: 'PARALLEL',
    model,
    tasks: ['a', 'b'].map((one) => task({ name: one, description: 'Ask {input}', tools: [tool] })),
  })
  return { asking, close: () => tool.close() }
}

async function serve(storage: RunStorage, own: readonly Ensemble[], port: number) {
  const runs = createRunService(storage, own, {
    maxConcurrentRuns: 1,
    pollMs: 50,
    logger: silentLogger,
  })
  const parts = {
    runs,
    tools: toolCatalog([]),
    models: modelCatalog({}),
    logger: silentLogger,
    extensions: EXTENSIONS,
  }
  const server = await serveControlApi(parts, { port })
  await runs.start()
  return {
    runs,
    async [Symbol.asyncDispose]() {
      await runs.close({ drainTimeoutMs: 1_000 })
      await server.close()
    },
  }
}

describe.each(Object.entries(STORES))('a fleet with one slot (%s)', (store, make) => {
  it.each(Object.entries(WIRES))(
    '[RUNS-X9] A fleet with one slot executes runs that wait for its own runs over two levels (%s)',
    async (_, toAddress) => {
      await using stack = new AsyncDisposableStack()
      const place = stack.use(await make())
      const ports = [await freePort(), await freePort()] as const
      // With Postgres, each level calls the other server, and any server executes the run.
      const next = store === 'postgres' ? ports[1] : ports[0]
      const outer = createAsking('outer', 'middle', toAddress(next, 'middle'))
      const middle = createAsking('middle', 'inner', toAddress(ports[0], 'inner'))
      stack.defer(() => outer.close())
      stack.defer(() => middle.close())
      const inner = ensemble({
        name: 'inner',
        model: scriptedModel(() => 'the answer'),
        tasks: [task({ name: 'inner', description: 'Answer {input}' })],
      })
      const all = [outer.asking, middle.asking, inner]
      const first = stack.use(await serve(await place.open(), all, ports[0]))
      if (store === 'postgres') stack.use(await serve(await place.open(), all, ports[1]))
      const { runId } = await first.runs.submit({ ensemble: 'outer', inputs: { input: 'gold' } })
      const events = await allEvents(first.runs, runId)
      expect(events.at(-1)).toMatchObject({
        status: 'COMPLETED',
        outputs: [
          { output: 'outer heard middle heard the answer' },
          { output: 'outer heard middle heard the answer' },
        ],
      })
      expect(await first.runs.status.load()).toMatchObject({ running: 0, waiting: 0, queued: 0 })
    },
  )
})
