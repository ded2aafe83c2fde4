/** Runs with handoffs in their requests: to their end, as forks, as replays, with another limit, and steered. */
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunService } from '@tutti/runs'
import type { RequestedRun } from '@tutti/runs/adapter'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { beforeEach, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { cancel, decide, inject, switchModel } from './commands.ts'
import { allEvents, openRuns, temporaryDirectory } from './waiting-ensemble.ts'

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

/** The same with a tool that a person must approve. */
const APPROVED = {
  ...TASK,
  agents: TASK.agents.map((one) => ('tools' in one ? { ...one, tools: ['approved'] } : one)),
}

/** Returns a model that calls the tool for a refund, or hands off; it answers when the refund is paid. */
function createPayer(name: string) {
  const names = ['approved', 'pay_back', 'transfer_to_Billing']
  return scriptedModel(
    ({ messages, tools }) => {
      const isPaid = messages.some(({ role, content }) => role === 'tool' && content === 'paid')
      const next = names.find((one) => tools.some((tool) => tool.name === one))
      return isPaid || next === undefined
        ? `Done by ${name}`
        : { toolCalls: [{ name: next, arguments: {} }] }
    },
    { name },
  )
}

/** Opens a service with the models `main` and `other`, and with a tool that a person must approve. */
async function openPayers(path: string) {
  const approved = defineTool({
    name: 'approved',
    description: 'Pays back',
    input: Type.Object({}),
    idempotent: false,
    requireApproval: true,
    execute: () => 'paid',
  })
  const [main, other] = [createPayer('main'), createPayer('other')]
  const own = task({ name: 'own', description: 'Own' })
  const service = await openRuns(path, [ensemble({ name: 'crew', tasks: [own], model: main })], {
    tools: toolCatalog([approved]),
    models: modelCatalog({ other }),
    parkAfterMs: 20,
    pollMs: 50,
  })
  return { service, main, other }
}

/** Submits a run that waits for approval after two handoffs, ends its process, and returns its review. */
async function leaveWaiting(path: string): Promise<string> {
  const { service } = await openPayers(path)
  await service.submit({ tasks: [APPROVED], inputs: { request: 'A7' }, runId: 'run-1' })
  await until('the run is parked', async () => (await service.status.load()).parked > 0)
  const [review] = await service.reviews.open({ runId: 'run-1' })
  expect(review?.request).toMatchObject({ taskName: 'support/Refunds', agentRole: 'Refunds' })
  await service.close({ drainTimeoutMs: 1_000 })
  return review?.reviewId ?? ''
}

it('[RUNS-T31] After a restart, a switched model and guidance for a task reach the agent that has its conversation', async () => {
  using directory = temporaryDirectory()
  const reviewId = await leaveWaiting(directory.path)
  const { service, main, other } = await openPayers(directory.path)
  await switchModel(service, 'run-1', 'other', { taskName: 'support' })
  await inject(service, 'run-1', 'Be brief')
  await decide(service, reviewId, { action: 'CONTINUE' })
  expect(outputsOf(await allEvents(service, 'run-1'))).toMatchObject({ support: 'Done by other' })
  expect(main.requests).toEqual([])
  expect(other.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual([
    expect.stringContaining('Be brief'),
  ])
  await service.close({ drainTimeoutMs: 0 })
})

it('[RUNS-T31] After a restart, a run that waits after handoffs is cancelled with all their tasks', async () => {
  using directory = temporaryDirectory()
  await leaveWaiting(directory.path)
  const { service, main } = await openPayers(directory.path)
  await cancel(service, 'run-1')
  const events = await allEvents(service, 'run-1')
  expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'CANCELLED' })
  const found = await service.get('run-1')
  expect(found?.tasks.map(({ name, status }) => [name, status])).toEqual([
    ['support', 'CANCELLED'],
    ['support/Billing', 'CANCELLED'],
    ['support/Refunds', 'CANCELLED'],
  ])
  expect(main.requests).toEqual([])
  await service.close({ drainTimeoutMs: 0 })
})
