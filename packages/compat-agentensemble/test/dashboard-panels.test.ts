import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { call, solo, submit, turnModel } from '../../control-api/test/paused-ensembles.ts'
import { Screen } from './dashboard-screen.ts'
import { openServer, type TestServer } from '../../control-api/test/open-server.ts'

function reviewedEnsemble() {
  return solo('reviewed', { review: { timeoutMs: 60_000 } })
}

/** Starts a run with an open review, shown on two screens: one of all runs and one of this run. */
async function openTwoScreens(api: TestServer) {
  const one = new Screen(api)
  await one.greeted()
  const runId = await submit(api, 'reviewed')
  const { panels } = await one.until((picture) => picture.panels.length > 0)
  const other = new Screen(api, `/runs/${runId}/ws`)
  await other.until((picture) => picture.panels.length > 0)
  return { one, other, runId, reviewId: panels[0]?.reviewId ?? '' }
}

describe('a panel that another client decides', () => {
  it.each([
    ['CONTINUE', 'CONTINUE'],
    ['EXIT_EARLY', 'EXIT_EARLY'],
  ])(
    '[AE-A2] A panel that another client decides closes when the review is decided over REST with %s',
    async (decision, action) => {
      await using api = await openServer({ ensembles: [reviewedEnsemble()] })
      const { one, other, runId, reviewId } = await openTwoScreens(api)
      expect((await api.post(`/api/reviews/${reviewId}`, { decision })).status).toBe(200)
      for (const screen of [one, other]) {
        expect((await screen.ended(runId)).panels).toEqual([])
        expect(await screen.socket.next('review_timed_out')).toMatchObject({ reviewId, action })
        const types = screen.socket.events.map(({ type }) => type)
        expect(types.indexOf('review_timed_out')).toBe(types.indexOf('review_decided') + 1)
        expect(screen.problems).toEqual([])
        await screen[Symbol.asyncDispose]()
      }
    },
  )

  it('A panel that another client decides closes when another dashboard decides EDIT', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    const { one, other, runId } = await openTwoScreens(api)
    await one.answer('EDIT', 'Changed by one')
    for (const screen of [one, other]) {
      expect((await screen.ended(runId)).panels).toEqual([])
      await screen[Symbol.asyncDispose]()
    }
  })

  it('A panel that another client decides closes when the review is rejected, and opens again for the next attempt', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    await using screen = new Screen(api)
    await screen.greeted()
    const runId = await submit(api, 'reviewed')
    const { panels } = await screen.until((picture) => picture.panels.length > 0)
    const path = `/api/reviews/${panels[0]?.reviewId}`
    expect((await api.post(path, { decision: 'REJECT', feedback: 'Again' })).status).toBe(200)
    const again = await screen.until(
      (picture) => picture.panels.length === 1 && picture.panels[0] !== panels[0],
    )
    expect(await screen.socket.next('review_timed_out')).toMatchObject({ action: 'FAIL' })
    expect(again.panels[0]?.attempt).toBe(2)
    await screen.answer('CONTINUE')
    expect((await screen.ended(runId)).panels).toEqual([])
  })

  it('A panel that another client decides closes when the run is cancelled', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    const { one, other, runId } = await openTwoScreens(api)
    await api.post(`/api/runs/${runId}/cancel`, {})
    for (const screen of [one, other]) {
      const { panels, tasks } = await screen.ended(runId)
      expect([panels, tasks.map(({ status }) => status)]).toEqual([[], ['failed']])
      await screen[Symbol.asyncDispose]()
    }
  })
})

describe('a panel whose decision is refused', () => {
  it('[AE-A3] A panel whose decision is refused opens again on the dashboard that sent the decision, and on no other', async () => {
    const paint = defineTool({
      name: 'paint',
      description: 'Paints',
      input: Type.Object({ colour: Type.String() }),
      requireApproval: true,
      execute: ({ colour }) => `Painted ${colour}`,
    })
    const painter = solo('painter', {
      tools: [paint],
      model: turnModel((turn) => (turn === 0 ? call('paint', { colour: 'red' }) : 'It is painted')),
    })
    await using api = await openServer({ ensembles: [painter] })
    await using screen = new Screen(api)
    await using other = new Screen(api)
    await other.greeted()
    const runId = await submit(api, 'painter')
    await screen.answer('EDIT', 'Use blue')
    expect(screen.picture.panels).toEqual([])
    const { panels } = await screen.until((picture) => picture.panels.length > 0)
    expect(panels).toHaveLength(1)
    expect(other.picture.panels).toHaveLength(1)
    await screen.answer('EDIT', '{"colour":"blue"}')
    const { tasks } = await screen.ended(runId)
    expect(tasks[0]?.tools).toEqual([expect.stringMatching(/^paint SUCCESS [^]*\bPainted blue$/)])
    expect((await other.ended(runId)).panels).toEqual([])
    expect([...screen.problems, ...other.problems]).toEqual([])
  })

  it('A panel whose decision is refused stays closed when the review was already decided', async () => {
    await using api = await openServer({ ensembles: [reviewedEnsemble()] })
    const { one, other, runId, reviewId } = await openTwoScreens(api)
    expect((await api.post(`/api/reviews/${reviewId}`, { decision: 'CONTINUE' })).status).toBe(200)
    await one.ended(runId)
    one.decide(reviewId, 'CONTINUE')
    expect(await one.socket.next('error')).toMatchObject({ error: 'REVIEW_RESOLVED' })
    one.socket.send({ type: 'ping' })
    await one.socket.next('pong')
    expect(one.picture.panels).toEqual([])
    await Promise.all([one, other].map((screen) => screen[Symbol.asyncDispose]()))
  })
})
