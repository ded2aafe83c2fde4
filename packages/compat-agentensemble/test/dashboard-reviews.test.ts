import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { orderProblems } from './dashboard-order.ts'
import { call, solo, submit, turnModel } from '../../control-api/test/paused-ensembles.ts'
import { Screen } from './dashboard-screen.ts'
import { openServer, type TestServer } from '../../control-api/test/open-server.ts'

const MINUTE_MS = 60_000

function reviewedEnsemble(name = 'reviewed', timeoutMs = MINUTE_MS) {
  return solo(name, { review: { timeoutMs, onTimeout: 'CONTINUE' } })
}

function askedEnsemble() {
  return solo('asked', { beforeReview: { prompt: 'Shall it begin?', timeoutMs: MINUTE_MS } })
}

/** Tool that requires approval and repeats its input. */
function allowed() {
  const paint = defineTool({
    name: 'paint',
    description: 'Paints',
    input: Type.Object({ colour: Type.String() }),
    requireApproval: true,
    execute: ({ colour }) => `Painted ${colour}`,
  })
  return solo('allowed', {
    tools: [paint],
    model: turnModel((turn) => (turn === 0 ? call('paint', { colour: 'red' }) : 'It is painted')),
  })
}

async function outputOf(api: TestServer, runId: string): Promise<string | undefined> {
  await expect.poll(async () => (await api.detail(runId)).status).toBe('COMPLETED')
  return (await api.detail(runId)).tasks[0]?.output
}

describe('a panel after a task', () => {
  it('A panel after a task opens while the task runs, with its output and a null prompt', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    await using screen = new Screen(api)
    await screen.greeted()
    await submit(api, 'reviewed')
    const { panels, tasks } = await screen.until((picture) => picture.panels.length > 0)
    expect(panels).toMatchObject([
      {
        taskDescription: 'Work on reviewed',
        taskOutput: 'Done as asked',
        timing: 'AFTER_EXECUTION',
        prompt: null,
        timeoutMs: MINUTE_MS,
        onTimeout: 'CONTINUE',
      },
    ])
    expect(tasks).toMatchObject([{ status: 'running' }])
    expect(screen.problems).toEqual([])
  })

  it.each([
    ['CONTINUE', ['CONTINUE'], 'Done as asked'],
    ['EDIT', ['EDIT', 'Done better'], 'Done better'],
    ['EXIT_EARLY', ['EXIT_EARLY'], 'Done as asked'],
  ] as const)(
    'A panel after a task closes with %s, and the run completes',
    async (_, [decision, text], output) => {
      await using api = await openServer({ ensembles: [reviewedEnsemble()] })
      await using screen = new Screen(api)
      await screen.greeted()
      const runId = await submit(api, 'reviewed')
      await screen.answer(decision, text)
      const { panels, tasks } = await screen.ended(runId)
      expect([panels, tasks.map(({ status }) => status)]).toEqual([[], ['completed']])
      expect(await outputOf(api, runId)).toBe(output)
      await screen.socket.next('run_result')
      expect([...screen.problems, ...orderProblems(screen.socket.events)]).toEqual([])
    },
  )

  it('A panel after a task closes when the review times out on the server', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble('brief', 20)] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'brief')
    const { panels, tasks } = await screen.ended(runId)
    expect([panels, tasks.map(({ status }) => status)]).toEqual([[], ['completed']])
    expect(await screen.socket.next('review_timed_out')).toMatchObject({ action: 'CONTINUE' })
    expect(screen.problems).toEqual([])
  })
})

describe('a panel before a task', () => {
  it('A panel before a task opens before the task is shown, and lets it start', async () => {
    await using api = await openServer({ ensembles: [askedEnsemble()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'asked')
    const { panels, tasks } = await screen.until((picture) => picture.panels.length > 0)
    expect(tasks).toEqual([])
    expect(panels).toMatchObject([
      { timing: 'BEFORE_EXECUTION', taskOutput: '', prompt: 'Shall it begin?' },
    ])
    await screen.answer('CONTINUE')
    expect(await screen.ended(runId)).toMatchObject({
      panels: [],
      tasks: [{ status: 'completed' }],
    })
    expect(screen.problems).toEqual([])
  })

  it('A panel before a task edits the description of the task', async () => {
    await using api = await openServer({ ensembles: [askedEnsemble()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'asked')
    await screen.answer('EDIT', 'Work on something else')
    const { turns } = await screen.ended(runId)
    expect(Object.keys(turns)).toEqual(['Worker:Work on something else'])
  })

  it('A panel before a task exits early, so the task never starts', async () => {
    await using api = await openServer({ ensembles: [askedEnsemble()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'asked')
    await screen.answer('EXIT_EARLY')
    expect(await screen.ended(runId)).toMatchObject({ panels: [], tasks: [] })
    expect(await screen.socket.next('ensemble_completed')).toMatchObject({
      exitReason: 'USER_EXIT_EARLY',
    })
  })
})

describe('a panel during a task', () => {
  it.each([
    ['CONTINUE', ['CONTINUE'], 'Painted red'],
    ['EDIT', ['EDIT', '{"colour":"blue"}'], 'Painted blue'],
  ] as const)(
    'A panel during a task closes with %s, and the tool is called',
    async (_, [decision, text], result) => {
      await using api = await openServer({ ensembles: [allowed()] })
      await using screen = new Screen(api)
      await screen.greeted()
      const runId = await submit(api, 'allowed')
      const { timing, taskDescription } = await screen.answer(decision, text)
      expect([timing, taskDescription]).toEqual([
        'DURING_EXECUTION',
        'Call tool: paint\nInput: {"colour":"red"}',
      ])
      const { tasks, panels } = await screen.ended(runId)
      expect([panels, tasks]).toMatchObject([[], [{ status: 'completed' }]])
      expect(tasks[0]?.tools).toEqual([expect.stringMatching(`^paint SUCCESS [^]*\\b${result}$`)])
      expect(screen.problems).toEqual([])
    },
  )

  it('A panel during a task exits early, so the tool is not called and the run ends', async () => {
    await using api = await openServer({ ensembles: [allowed()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'allowed')
    await screen.answer('EXIT_EARLY')
    const { tasks, panels } = await screen.ended(runId)
    expect(panels).toEqual([])
    expect(tasks[0]?.tools.join()).not.toContain('SUCCESS')
    expect(await screen.socket.next('ensemble_completed')).toMatchObject({
      exitReason: 'USER_EXIT_EARLY',
    })
    expect(screen.problems).toEqual([])
  })
})

describe('a dashboard that connects while a review is open', () => {
  it('[AE-A1] A dashboard that connects while a review is open gets the request of the review once, after hello, with the remaining time', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    await using first = new Screen(api)
    await first.greeted()
    const runId = await submit(api, 'reviewed')
    const [panel] = (await first.until(({ panels }) => panels.length > 0)).panels
    await expect
      .poll(() => Date.now() - Date.parse(panel?.requestedAt ?? ''), { interval: 5 })
      .toBeGreaterThan(50)
    for (const path of ['/ws', `/runs/${runId}/ws`]) {
      await using late = new Screen(api, path)
      const { panels } = await late.until((picture) => picture.panels.length > 0)
      expect(late.socket.received.map(({ type }) => type)).toEqual(['hello', 'review_requested'])
      expect(panels).toMatchObject([{ reviewId: panel?.reviewId, prompt: null }])
      expect(panels[0]?.timeoutMs).toBeGreaterThan(MINUTE_MS / 2)
      expect(panels[0]?.timeoutMs).toBeLessThanOrEqual(MINUTE_MS - 50)
      expect(late.problems).toEqual([])
    }
  })

  it('A dashboard that connects while a review is open does not get the decided reviews of its run', async () => {
    const twice = solo('twice', { beforeReview: true, review: true })
    await using api = await openServer({ ensembles: [twice] })
    await using first = new Screen(api)
    await first.greeted()
    await submit(api, 'twice')
    await first.answer('CONTINUE')
    await first.until(({ panels }) => panels[0]?.timing === 'AFTER_EXECUTION')
    await using late = new Screen(api)
    const { panels } = await late.until((picture) => picture.panels.length > 0)
    expect(panels.map(({ timing }) => timing)).toEqual(['AFTER_EXECUTION'])
  })

  it('A dashboard that connects while a review is open gets a timeout of 0 for a review without a time limit', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble('endless', Infinity)] })
    await submit(api, 'endless')
    await using first = new Screen(api)
    await first.until(({ panels }) => panels.length > 0)
    await using late = new Screen(api)
    const { panels } = await late.until((picture) => picture.panels.length > 0)
    expect(panels[0]?.timeoutMs).toBe(0)
  })

  it('A dashboard that connects while a review is open can decide the review instead of the first dashboard, also when the run was parked', async () => {
    await using api = await openServer({
      ensembles: [reviewedEnsemble()],
      limits: { parkAfterMs: 1 },
    })
    const runId = await submit(api, 'reviewed')
    await expect.poll(async () => (await api.detail(runId)).status).toBe('WAITING_REVIEW')
    await using late = new Screen(api)
    await late.answer('EDIT', 'Decided late')
    await late.ended(runId)
    expect(await outputOf(api, runId)).toBe('Decided late')
    expect(late.picture.panels).toEqual([])
    expect(late.problems).toEqual([])
  })
})
