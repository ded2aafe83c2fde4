/** The trace of a run in the format of AgentEnsemble's viewers. */
import { ensemble, task } from '@tutti/ensemble'
import { decode, ROUTES, type RunEvent } from '@tutti/protocol'
import type { CaptureMode, DagModel, ExecutionTrace } from '@tutti/protocol/internal'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer } from '../../control-api/test/open-server.ts'
import { openRecordedServer, type RecordedServer } from '../../control-api/test/recorded-server.ts'

async function readTrace(api: Pick<RecordedServer, 'get'>, runId: string): Promise<ExecutionTrace> {
  const response = await api.get(`/api/runs/${runId}/trace`)
  expect(response.status).toBe(200)
  const body: unknown = await response.json()
  const decoded = decode(ROUTES.getRunTrace.response, body)
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}

async function readDag(api: Pick<RecordedServer, 'get'>, runId: string): Promise<DagModel> {
  const response = await api.get(`/api/runs/${runId}/dag`)
  expect(response.status).toBe(200)
  const decoded = decode(ROUTES.getRunDag.response, await response.json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}

async function runToEnd(api: RecordedServer, body: object): Promise<string> {
  const { runId } = (await (await api.post('/api/runs', body)).json()) as { runId: string }
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return runId
}

const milliseconds = ({ startedAt, completedAt }: { startedAt: string; completedAt: string }) =>
  Date.parse(completedAt) - Date.parse(startedAt)

/** Returns the first model call in the trace of a run whose model shows its reasoning. */
async function readReasonedCall(captureMode: CaptureMode) {
  const model = scriptedModel(() => ({ reasoning: 'Let me see.', text: 'Yes' }))
  const think = task({ name: 'think', description: 'Think' })
  await using api = await openServer({
    ensembles: [ensemble({ name: 'thinker', tasks: [think], model })],
  })
  const submitted = await api.post('/api/runs', { options: { captureMode } })
  const { runId } = (await submitted.json()) as { runId: string }
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return (await readTrace(api, runId)).taskTraces[0]?.llmInteractions[0]
}

describe('the trace of a run', () => {
  it('The trace of a run has the reasoning of a model, except with the capture mode OFF', async () => {
    expect(await readReasonedCall('STANDARD')).toMatchObject({
      responseText: 'Yes',
      reasoning: 'Let me see.',
      reasoningTokens: 3,
    })
    const without = await readReasonedCall('OFF')
    expect(without).toMatchObject({ responseText: 'Yes', reasoningTokens: 3 })
    expect(without).not.toHaveProperty('reasoning')
  })

  it('[AE-E1] The trace of a run has tasks, turns, tool calls, prompts, metrics and cost', async () => {
    await using api = await openRecordedServer()
    const runId = await runToEnd(api, {
      inputs: { topic: 'AI' },
      tags: { by: 'me' },
      taskOverrides: { writer: { model: 'opus' } },
    })
    const trace = await readTrace(api, runId)
    const detail = await api.detail(runId)
    expect(trace).toMatchObject({
      schemaVersion: '1.1',
      captureMode: 'STANDARD',
      ensembleId: runId,
      workflow: 'PARALLEL',
      startedAt: detail.startedAt,
      completedAt: detail.completedAt,
      inputs: { topic: 'AI' },
      agents: [
        { role: 'Researcher', goal: 'Research AI', toolNames: ['calculator'] },
        { role: 'Writer', toolNames: [] },
      ],
      errors: [],
      metadata: { ensemble: 'studio', status: 'COMPLETED', tags: { by: 'me' } },
    })
    const [researcher, writer] = trace.taskTraces
    expect(writer?.llmInteractions.map(({ model }) => model)).toEqual(['opus'])
    expect(researcher?.llmInteractions.map(({ model }) => model)).toEqual(['main', 'main'])
    expect(researcher).toMatchObject({
      taskDescription: 'Research AI',
      agentRole: 'Researcher',
      prompts: {
        systemPrompt: expect.stringContaining('Researcher'),
        userPrompt: api.promptOf('Research AI'),
      },
      llmInteractions: [
        {
          iterationIndex: 0,
          responseType: 'TOOL_CALLS',
          toolCalls: [
            {
              toolName: 'calculator',
              arguments: '{"for":"me"}',
              result: expect.stringContaining('calculator says'),
              outcome: 'SUCCESS',
              parsedInput: null,
            },
          ],
        },
        { iterationIndex: 1, responseType: 'FINAL_ANSWER', responseText: 'main did Research AI' },
      ],
      finalOutput: 'main did Research AI',
      delegations: [],
      metrics: { llmCallCount: 2, toolCallCount: 1, delegationCount: 0 },
      metadata: { taskName: 'researcher', taskIndex: 1, attempt: 1, status: 'COMPLETED' },
    })
    expect(researcher?.llmInteractions[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ])
    expect(trace.taskTraces).toHaveLength(2)
    const { metrics } = trace
    expect(metrics.totalTokens).toBe(detail.metrics.totalTokens)
    expect([metrics.totalLlmCallCount, metrics.totalToolCalls]).toEqual([3, 1])
    expect(metrics.taskMetrics['Writer']).toEqual(writer?.metrics)
    const costs = trace.taskTraces.map(({ metrics: own }) => Number(own.costEstimate?.totalCost))
    expect(costs[0]).toBeGreaterThan(0)
    expect(costs[1]).toBeGreaterThan(0)
    expect(trace.totalCostEstimate).toMatchObject({
      currency: 'USD',
      inputCost: expect.closeTo(detail.metrics.costEstimate?.inputCost ?? NaN, 12),
      outputCost: expect.closeTo(detail.metrics.costEstimate?.outputCost ?? NaN, 12),
      totalCost: expect.closeTo(detail.metrics.costUsd ?? NaN, 12),
    })
    expect(costs[0]! + costs[1]!).toBeCloseTo(detail.metrics.costUsd ?? NaN, 12)
  })

  it.each([
    ['OFF', 'OFF', false, false],
    ['STANDARD', 'STANDARD', true, false],
    ['DETAILED', 'FULL', true, true],
    ['FULL', 'FULL', true, true],
  ] as const)(
    '[AE-E1] The trace of a run with capture mode %s has the content of that mode',
    async (captureMode, told, messages, inputs) => {
      await using api = await openRecordedServer()
      const runId = await runToEnd(api, { inputs: { topic: 'AI' }, options: { captureMode } })
      const trace = await readTrace(api, runId)
      expect(trace.captureMode).toBe(told)
      const [first] = trace.taskTraces
      expect(first?.prompts !== null).toBe(messages)
      const turns = trace.taskTraces.flatMap((task) => task.llmInteractions)
      expect(turns.map((turn) => turn.messages.length > 0)).toEqual(turns.map(() => messages))
      expect(turns[0]?.toolCalls[0]?.parsedInput).toEqual(inputs ? { for: 'me' } : null)
      expect((await api.detail(runId)).options).toEqual({ captureMode })
    },
  )

  it('[AE-D1] [AE-E2] The trace of a run has the tasks that a manager delegates inside its delegations and at top level before it', async () => {
    await using api = await openRecordedServer()
    const runId = await runToEnd(api, {
      tasks: [
        { name: 'a', description: 'Research a' },
        { name: 'b', description: 'Research b' },
      ],
      options: { workflow: 'HIERARCHICAL' },
    })
    const trace = await readTrace(api, runId)
    expect(trace.taskTraces.map(({ agentRole }) => agentRole)).toEqual([
      'Researcher (a)',
      'Researcher (b)',
      'Manager',
    ])
    const delegations = trace.taskTraces[2]?.delegations ?? []
    expect(delegations.map(({ workerTrace }) => workerTrace)).toEqual(trace.taskTraces.slice(0, 2))
    expect(delegations).toMatchObject(
      ['a', 'b'].map((name) => ({
        delegatorRole: 'Manager',
        workerRole: `Researcher (${name})`,
        taskDescription: `Research for Researcher (${name})`,
        depth: 1,
        succeeded: true,
        workerTrace: { agentRole: `Researcher (${name})`, llmInteractions: [{}] },
      })),
    )
    expect(delegations.map(({ result }) => result)).toEqual(
      delegations.map(({ workerTrace }) => workerTrace?.finalOutput),
    )
    expect(trace.metrics).toMatchObject({ totalDelegations: 2, totalLlmCallCount: 4 })
    expect(trace.agents[0]).toMatchObject({ role: 'Manager', allowDelegation: true })
    expect(await readDag(api, runId)).toMatchObject({
      workflow: 'HIERARCHICAL',
      tasks: [
        ...trace.taskTraces.slice(0, 2).map(({ agentRole, taskDescription }) => ({
          agentRole,
          description: taskDescription,
          dependsOn: [],
        })),
        { agentRole: 'Manager', dependsOn: ['0', '1'], parallelGroup: 1 },
      ],
    })
  })

  it('[AE-E2] The trace of a run has every attempt, and the errors', async () => {
    await using api = await openRecordedServer()
    const runId = await runToEnd(api, {
      tasks: [{ name: 'a', description: 'A', outputSchema: { required: ['never'] } }],
    })
    const trace = await readTrace(api, runId)
    expect(trace.taskTraces).toMatchObject([
      { finalOutput: null, metadata: { status: 'FAILED' }, metrics: { llmCallCount: 4 } },
    ])
    expect(trace.errors).toMatchObject([
      { agentRole: 'Agent', errorType: 'OUTPUT_INVALID', message: expect.any(String) },
    ])
    expect(trace.metadata).toMatchObject({ status: 'FAILED' })
  })

  it('[AE-E3] The trace of a run covers a running or waiting run up to now', async () => {
    await using api = await openServer({ limits: { maxConcurrentRuns: 1 } })
    const [runId, waiting] = [await api.submit(), await api.submit()]
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      const calls = batch.some(
        (event) => event.type === 'llm_iteration_completed' && event.taskName === 'play',
      )
      if (calls) break
    }
    const trace = await readTrace(api, runId)
    expect(trace.metadata).toMatchObject({ status: 'RUNNING' })
    expect(trace.totalCostEstimate).toBeNull()
    expect(trace.taskTraces).toMatchObject([
      { finalOutput: 'All instruments are in tune now', metadata: { status: 'COMPLETED' } },
      { finalOutput: null, metadata: { status: 'RUNNING' }, llmInteractions: [{ toolCalls: [] }] },
    ])
    expect(await readTrace(api, waiting)).toMatchObject({ taskTraces: [], agents: [] })
    api.play()
  })

  it('[AE-E4] The trace of a run has no tasks with a handler', async () => {
    await using api = await openRecordedServer()
    const trace = await readTrace(api, await runToEnd(api, { ensemble: 'archive' }))
    expect(trace).toMatchObject({ taskTraces: [], metadata: { status: 'COMPLETED' } })
  })

  it('[AE-E2] [AE-E4] The trace of a run has the tasks that a handler, a list and a nested ensemble have added at top level', async () => {
    const model = scriptedModel(() => 'Done')
    const write = task({ name: 'write', description: 'Write about {item}' })
    const nested = ensemble({
      name: 'inner',
      model,
      tasks: [task({ name: 'end', description: 'End' })],
    })
    const tasks = [
      task({ name: 'grow', description: 'Grow', handler: ({ map }) => map(['tide'], write) }),
      task({
        name: 'each',
        description: 'Read {item}',
        forEach: { over: 'items', maxItems: 5 },
      }),
      task({ name: 'sub', ensemble: nested }),
    ]
    await using api = await openServer({ ensembles: [ensemble({ name: 'team', model, tasks })] })
    const inputs = { items: '["fog","sea"]' }
    await api.post('/api/runs?wait=30', { runId: 'one', inputs })
    const { taskTraces } = await readTrace(api, 'one')
    expect(taskTraces.map(({ metadata }) => metadata['taskName'])).toEqual([
      'grow/write-0',
      'each/0',
      'each/1',
      'sub/end',
    ])
  })

  it('The trace of a run has nested spans that do not end before they start', async () => {
    await using api = await openRecordedServer()
    const trace = await readTrace(api, await runToEnd(api, { inputs: { topic: 'AI' } }))
    for (const task of trace.taskTraces) {
      expect(milliseconds(task)).toBeGreaterThanOrEqual(0)
      let before = Date.parse(task.startedAt)
      for (const turn of task.llmInteractions) {
        expect(Date.parse(turn.startedAt)).toBeGreaterThanOrEqual(before)
        expect(milliseconds(turn)).toBeGreaterThanOrEqual(0)
        for (const call of turn.toolCalls) {
          expect(Date.parse(call.startedAt)).toBeGreaterThanOrEqual(Date.parse(turn.completedAt))
          expect(milliseconds(call)).toBeGreaterThanOrEqual(0)
          before = Date.parse(call.completedAt)
        }
      }
    }
  })

  it('The trace of a run has the timestamps of the events', async () => {
    await using api = await openRecordedServer()
    const runId = await runToEnd(api, { inputs: { topic: 'AI' } })
    const events = await eventsOf(await api.get(`/api/runs/${runId}/events`))
    const turns = (await readTrace(api, runId)).taskTraces.flatMap((task) => task.llmInteractions)
    const instants = (type: RunEvent['type'], field: 'startedAt' | 'completedAt'): unknown =>
      events
        .flatMap((event) => (event.type === type ? [String(Reflect.get(event, field))] : []))
        .toSorted()
    expect(turns.map(({ startedAt }) => startedAt).toSorted()).toEqual(
      instants('llm_iteration_started', 'startedAt'),
    )
    expect(turns.map(({ completedAt }) => completedAt).toSorted()).toEqual(
      instants('llm_iteration_completed', 'completedAt'),
    )
    const calls = turns.flatMap(({ toolCalls }) => toolCalls)
    expect(calls.map(({ completedAt }) => completedAt)).toEqual(
      instants('tool_called', 'completedAt'),
    )
  })

  it('[AE-E5] The trace of a run has a list of tool calls in every message, and a value or null in every output', async () => {
    await using api = await openRecordedServer()
    const trace = await readTrace(api, await runToEnd(api, { inputs: { topic: 'AI' } }))
    const turns = trace.taskTraces.flatMap(({ llmInteractions }) => llmInteractions)
    const messages = turns.flatMap((turn) => turn.messages)
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.filter(({ toolCalls }) => !Array.isArray(toolCalls))).toEqual([])
    expect(trace.taskTraces.map(({ parsedOutput }) => parsedOutput)).toEqual([null, null])
    const calls = turns.flatMap(({ toolCalls }) => toolCalls)
    expect(calls.map(({ structuredOutput }) => structuredOutput)).not.toContain(undefined)
  })

  it('The trace of a run is refused with 404 for an unknown run', async () => {
    await using api = await openRecordedServer()
    const response = await api.get('/api/runs/run-none/trace')
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: 'RUN_NOT_FOUND' },
    ])
  })
})

describe('the task graph of a run', () => {
  it('[AE-D1] [AE-D2] The task graph of a run has the tasks of the run, with dependencies, levels and longest chain', async () => {
    await using api = await openRecordedServer()
    const runId = await runToEnd(api, { inputs: { topic: 'AI' } })
    const dag = await readDag(api, runId)
    const { agents, taskTraces } = await readTrace(api, runId)
    expect(dag).toMatchObject({
      type: 'dag',
      schemaVersion: '1.3',
      workflow: 'PARALLEL',
      agents,
      tasks: [
        { id: '0', dependsOn: [], parallelGroup: 0, onCriticalPath: true },
        { id: '1', dependsOn: ['0'], parallelGroup: 1, onCriticalPath: true },
      ],
      parallelGroups: [['0'], ['1']],
      criticalPath: ['0', '1'],
    })
    // AgentEnsemble's viewer joins task graph and trace by role and description.
    expect(dag.tasks.map(({ agentRole, description }) => [agentRole, description])).toEqual(
      taskTraces.map(({ agentRole, taskDescription }) => [agentRole, taskDescription]),
    )
  })

  it('The task graph of a run is refused with 404 for an unknown run', async () => {
    await using api = await openRecordedServer()
    const response = await api.get('/api/runs/run-none/dag')
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: 'RUN_NOT_FOUND' },
    ])
  })
})
