/** Runs whose requests have agents that hand off: to their end, as forks, as replays, and with another limit. */
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunService } from '@tutti/runs'
import type { RequestedRun } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { beforeEach, expect, it } from 'vitest'

import { allEvents, temporaryDirectory } from './waiting-ensemble.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const TASK = {
  name: 'support',
  description: 'Help with {request}',
  agents: [
    { role: 'Triage', goal: 'Find the agent', handoffs: ['Billing'] },
    {
      role: 'Billing',
      handoffs: [
        {
          agent: 'Refunds',
          name: 'pay_back',
          inputSchema: { type: 'object', properties: { reason: { type: 'string' } } },
          filter: 'withoutTools',
        },
      ],
    },
    { role: 'Refunds', tools: ['refund'], handoffs: ['Triage'] },
  ],
} satisfies NonNullable<RequestedRun['tasks']>[number]

/** Calls of models and tools, by the role of the agent. */
const calls: string[] = []

beforeEach(() => {
  calls.length = 0
})

const refund = defineTool({
  name: 'refund',
  description: 'Pays back',
  input: Type.Object({}),
  idempotent: false,
  execute() {
    calls.push('refund')
    return 'paid'
  },
})

/** Hands off from Triage to Billing and to Refunds, which pays. An agent whose handoff fails answers. */
const model = scriptedModel(({ messages }) => {
  const role = /^You are (.*)\.$/m.exec(messages[0]?.content ?? '')?.[1] ?? '?'
  calls.push(role)
  const last = messages.at(-1)
  const isRefused = last?.role === 'tool' && last.content.startsWith('Error')
  if (isRefused) return `${role} answers: ${last.content}`
  if (role === 'Triage') return { toolCalls: [{ name: 'transfer_to_Billing', arguments: {} }] }
  if (role === 'Billing') {
    return { text: 'Sure', toolCalls: [{ name: 'pay_back', arguments: { reason: 'late' } }] }
  }
  if (last?.role === 'tool') return `Done after ${messages.map((one) => one.role).join()}`
  return { toolCalls: [{ name: 'refund', arguments: {} }] }
})

async function openService(path: string): Promise<RunService> {
  const own = task({ name: 'own', description: 'Own' })
  const template = ensemble({ name: 'crew', tasks: [own], model })
  const storage = await sqliteRunStorage(path)
  const service = createRunService(storage, [template], {
    clock: fakeClock(),
    tools: toolCatalog([refund]),
  })
  await service.start()
  return service
}

function outputsOf(events: readonly LoggedRunEvent[]): object {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  return Object.fromEntries(last.outputs.map(({ taskName, output }) => [taskName, output]))
}

it('[RUNS-T31] [RUNS-E3] Agents of a request hand off, and their run is forked after a handoff and replayed', async () => {
  using directory = temporaryDirectory()
  const service = await openService(directory.path)
  await service.submit({ tasks: [TASK], inputs: { request: 'A7' }, runId: 'run-1' })
  const events = await allEvents(service, 'run-1')
  const outputs = outputsOf(events)
  const answer = 'Done after system,user,assistant,assistant,tool'
  expect(outputs).toEqual({
    support: answer,
    'support/Billing': answer,
    'support/Refunds': answer,
  })
  expect(calls).toEqual(['Triage', 'Billing', 'Refunds', 'refund', 'Refunds'])

  calls.length = 0
  const at = { task: 'support/Refunds' }
  await expect(service.forks.create('run-1', { at })).rejects.toMatchObject({
    code: 'SIDE_EFFECTS',
    message: expect.stringContaining('refund (task "support/Refunds")'),
  })
  const fork = await service.forks.create('run-1', { at, allowSideEffects: true })
  expect(outputsOf(await allEvents(service, fork.runId))).toEqual(outputs)
  expect(calls).toEqual(['Refunds', 'refund', 'Refunds'])

  calls.length = 0
  const replay = await service.forks.replay('run-1', { mode: 'frozen' })
  expect(outputsOf(await allEvents(service, replay.runId))).toEqual(outputs)
  expect(calls).toEqual([])
  await service.close({ drainTimeoutMs: 0 })
})

it('[RUNS-V5] [RUNS-T31] An override of a requested task changes its limit of handoffs', async () => {
  using directory = temporaryDirectory()
  const service = await openService(directory.path)
  await service.submit({
    tasks: [{ ...TASK, maxHandoffs: 5 }],
    taskOverrides: { support: { maxHandoffs: 1 } },
    inputs: { request: 'A7' },
    runId: 'run-1',
  })
  expect(outputsOf(await allEvents(service, 'run-1'))).toMatchObject({
    support: 'Billing answers: Error: All 1 handoffs of this task are used up: answer yourself',
  })
  await service.close({ drainTimeoutMs: 0 })
})
