/** A gateway over a run service in a temporary folder, whose ensembles wait in a tool until the test releases it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTool, toolCatalog, Type, type AgentTool } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import type { NewAuditEntry } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'

import { LargeReads } from '../src/http/large-reads.ts'
import { noMetrics, noRedactor } from './error-reporting.ts'

import type { GatewayOptions } from '../src/gateway-options.ts'

/** A gateway, and functions to control it in a test. */
export interface OpenGateway extends AsyncDisposable {
  readonly options: GatewayOptions
  readonly runs: RunService
  /** Clock of the gateway; the run service has the real one. */
  readonly clock: FakeClock
  readonly audit: readonly NewAuditEntry[]
  /** Releases the waiting tool, now and for later calls. */
  play(): void
  /** Submits a run of `band` and returns its id. */
  submit(): Promise<string>
}

/** Settings that a test may change. */
export interface OpenGatewayOptions {
  readonly ensembles?: readonly Ensemble[]
  readonly tools?: readonly AgentTool[]
}

/** Opens a gateway with one ensemble, `band`, whose second task waits in its tool. */
export async function openGateway({
  ensembles,
  tools = [],
}: OpenGatewayOptions = {}): Promise<OpenGateway> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-gateway-'))
  const released = Promise.withResolvers<void>()
  const storage = await sqliteRunStorage(path)
  const runs = createRunService(storage, ensembles ?? [band(released.promise)], {
    logger: silentLogger,
  })
  await runs.start()
  const clock = fakeClock()
  const audit: NewAuditEntry[] = []
  const options: GatewayOptions = {
    runs,
    tools: toolCatalog(tools),
    models: modelCatalog({}),
    shared: undefined,
    clock,
    logger: silentLogger,
    redactor: noRedactor,
    metrics: noMetrics,
    trail: { record: (entry) => void audit.push(entry) },
    reads: new LargeReads(() => undefined, runs.budget),
    maxBodyBytes: 1_000_000,
    heartbeatMs: 15_000,
    publicUrl: undefined,
    apiKeys: [],
    webhooks: {},
    maxToolCalls: 32,
    toolMetrics: undefined,
  }
  return {
    options,
    runs,
    clock,
    audit,
    play: released.resolve,
    async submit() {
      const run = await runs.submit({ inputs: { composer: 'Bach', hall: 'A' } })
      return run.runId
    },
    async [Symbol.asyncDispose]() {
      released.resolve()
      await runs.close({ drainTimeoutMs: 5_000 })
      rmSync(path, { recursive: true })
    },
  }
}

function band(released: Promise<void>): Ensemble {
  const wait = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({ bars: Type.Optional(Type.Integer()) }),
    async execute(_input, { signal }) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([released, aborted])
      return 'waited'
    },
  })
  const answer = ({ messages, tools }: ModelRequest) => {
    if (tools.length === 0) return 'All instruments are in tune now'
    if (messages.at(-1)?.role === 'tool') return 'It was played in full'
    return { text: 'One moment', toolCalls: [{ name: 'wait', arguments: { bars: 4 } }] }
  }
  const tune = task({ name: 'tune', description: 'Tune for {composer}' })
  const play = task({
    name: 'play',
    description: 'Play {composer} in {hall}',
    context: [tune],
    tools: [wait],
  })
  const model = scriptedModel(answer, { provider: 'scripted' })
  return ensemble({ name: 'band', description: 'A band', tasks: [tune, play], model })
}
