import { agent, ensemble, task } from '@tutti/ensemble'
import { MANAGER } from '@tutti/ensemble/internal'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { orderProblems } from './dashboard-order.ts'
import { duo, solo, Stops, submit, turnModel } from '../../control-api/test/paused-ensembles.ts'
import { Screen } from './dashboard-screen.ts'
import { openServer } from '../../control-api/test/open-server.ts'

describe('a live dashboard of AgentEnsemble', () => {
  it('A live dashboard of AgentEnsemble gets only hello before the first run', async () => {
    await using api = await openServer({ ensembles: [duo()] })
    await using screen = new Screen(api)
    await screen.greeted()
    expect(screen.socket.received).toEqual([
      { type: 'hello', sharedCapabilities: expect.any(Array) },
    ])
  })

  it('A live dashboard of AgentEnsemble shows a run with all fields and nulls in place, in order, and with correct totals', async () => {
    await using api = await openServer({ ensembles: [duo()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'duo')
    const picture = await screen.ended(runId)
    await screen.socket.next('run_result')
    expect(screen.problems).toEqual([])
    expect(orderProblems(screen.socket.events)).toEqual([])
    expect(picture).toMatchObject({ workflow: 'SEQUENTIAL', totalTasks: 2, before: [] })
    expect(picture.tasks).toMatchObject([
      {
        taskIndex: 1,
        agentRole: 'Scout',
        status: 'completed',
        given: 'See everything [look,fall] ',
        tools: [
          'look SUCCESS {"where":"north"} {"seen":"north"}',
          'fall FAILURE {} Error: The floor is wet',
        ],
      },
      { taskIndex: 2, agentRole: 'Reporter', status: 'completed', tools: [] },
    ])
    expect(picture.tasks[1]?.given).toContain('There is a river with trees')
    expect(picture.turns).toEqual({
      'Scout:Scout the valley': [
        { index: 0, pending: false, answer: 'TOOL_CALLS' },
        { index: 1, pending: false, answer: 'TOOL_CALLS' },
        { index: 2, pending: false, answer: 'FINAL_ANSWER' },
      ],
      'Reporter:Report on the valley': [{ index: 0, pending: false, answer: 'FINAL_ANSWER' }],
    })
    expect(picture.metrics).toEqual({
      Scout: picture.tasks[0]?.tokenCount,
      Reporter: picture.tasks[1]?.tokenCount,
    })
    expect(screen.socket.events.find(({ type }) => type === 'tool_called')).toMatchObject({
      structuredResult: { seen: 'north' },
    })
  })

  it('A live dashboard of AgentEnsemble nests the tasks that a manager delegates, each with its own number', async () => {
    const delegate = (agentRole: string) => ({
      name: 'delegate_task',
      arguments: { agentRole, taskDescription: `Help as ${agentRole}` },
    })
    const model = scriptedModel(({ tools: offered, messages }) => {
      const isManager = offered.some(({ name }) => name === 'delegate_task')
      if (!isManager) return 'I helped'
      if (messages.some(({ role }) => role === 'assistant')) return 'All helped'
      return { toolCalls: [delegate('Left'), delegate('Right'), delegate('Nobody')] }
    })
    const crew = ensemble({
      name: 'crew',
      workflow: 'HIERARCHICAL',
      model,
      tasks: ['Left', 'Right'].map((role) =>
        task({ name: role, description: `${role} work`, agent: agent({ role, goal: 'Help' }) }),
      ),
    })
    await using api = await openServer({ ensembles: [crew] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'crew')
    const picture = await screen.ended(runId)
    expect(screen.problems).toEqual([])
    expect(Object.values(picture.delegations).toSorted()).toEqual([
      `${MANAGER} > Left delegation_completed`,
      `${MANAGER} > Right delegation_completed`,
    ])
    expect(screen.socket.events.map(({ type }) => type)).toContain('delegation_failed')
    const numbers = picture.tasks.map(({ taskIndex }) => taskIndex)
    expect(new Set(numbers).size).toBe(3)
    expect(picture.totalTasks).toBeGreaterThanOrEqual(Math.max(...numbers))
    await using late = new Screen(api)
    await late.greeted()
    expect(late.picture).toEqual(picture)
  })

  it('A live dashboard of AgentEnsemble shows the end of a failed run: the task with its reason, and the run', async () => {
    const broken = solo('broken', { model: turnModel(() => new Error('The model is away')) })
    await using api = await openServer({ ensembles: [broken] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'broken')
    const { tasks } = await screen.ended(runId)
    expect(tasks).toMatchObject([{ status: 'failed', reason: 'The model is away' }])
    await screen.socket.next('run_result')
    expect(await screen.socket.next('ensemble_completed')).toMatchObject({ exitReason: 'ERROR' })
    expect([...screen.problems, ...orderProblems(screen.socket.events)]).toEqual([])
  })

  it('A live dashboard of AgentEnsemble shows the end of a cancelled run: open work has failed, and nothing stays running', async () => {
    const stops = new Stops()
    const side = (role: string) =>
      task({ name: role, description: `${role} side`, agent: agent({ role, goal: 'x' }) })
    const pair = ensemble({
      name: 'pair',
      workflow: 'PARALLEL',
      model: turnModel(() => 'Never said', stops),
      tasks: [side('left'), side('right')],
    })
    await using api = await openServer({ ensembles: [pair] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'pair')
    await screen.until(({ turns }) => Object.keys(turns).length === 2)
    await api.post(`/api/runs/${runId}/cancel`, {})
    const { tasks } = await screen.ended(runId)
    expect(tasks.map(({ status }) => status)).toEqual(['failed', 'failed'])
    await screen.socket.next('run_result')
    expect(await screen.socket.next('ensemble_completed')).toMatchObject({
      exitReason: 'CANCELLED',
    })
    expect([...screen.problems, ...orderProblems(screen.socket.events)]).toEqual([])
  })

  it('A live dashboard of AgentEnsemble retains the runs before the current one', async () => {
    await using api = await openServer({ ensembles: [duo()] })
    await using screen = new Screen(api)
    const runIds: string[] = []
    for (let run = 0; run < 3; run += 1) {
      const runId = await submit(api, 'duo')
      await screen.ended(runId)
      runIds.push(runId)
    }
    const { before, ensembleId } = screen.picture
    expect([...before.map((run) => run.ensembleId), ensembleId]).toEqual(runIds)
    for (const run of before) {
      expect(run.tasks.map(({ status }) => status)).toEqual(['completed', 'completed'])
      expect(run.completedAt).toBeDefined()
    }
    expect(screen.problems).toEqual([])
  })
})

describe('a dashboard of one run', () => {
  it('A dashboard of one run gets only the events of that run, while other runs execute and afterwards', async () => {
    const [left, right] = [new Stops(), new Stops()]
    const [one, other] = [left, right].map((stops, index) =>
      solo(`side-${index}`, { model: turnModel(() => 'Done', stops) }),
    )
    if (one === undefined || other === undefined) throw new Error('There are two')
    await using api = await openServer({ ensembles: [one, other] })
    const first = await submit(api, one.name)
    const second = await submit(api, other.name)
    await Promise.all([left.reached(), right.reached()])
    await using screen = new Screen(api, `/runs/${first}/ws`)
    const { ensembleId, before } = await screen.greeted()
    expect([ensembleId, before]).toEqual([first, []])
    await using another = new Screen(api, `/runs/${second}/ws`)
    await another.greeted()
    right.openAll()
    await another.ended(second)
    await another.socket.next('run_result')
    expect(screen.picture.completedAt).toBeUndefined()
    left.openAll()
    const picture = await screen.ended(first)
    expect(picture).toMatchObject({ tasks: [{ status: 'completed' }], before: [] })
    for (const [{ socket, problems }, runId] of [
      [screen, first],
      [another, second],
    ] as const) {
      const { snapshotTrace = [] } = await socket.next('hello')
      const runIds = [...snapshotTrace, ...socket.events].map((event) => event.runId)
      expect(new Set(runIds)).toEqual(new Set([runId]))
      expect(problems).toEqual([])
    }
  })
})
