import { describe, expect, it } from 'vitest'

import {
  call,
  duo,
  waitForLog,
  solo,
  Stops,
  submit,
  tools,
  turnModel,
} from '../../control-api/test/paused-ensembles.ts'
import { Screen } from './dashboard-screen.ts'
import { openServer } from '../../control-api/test/open-server.ts'

describe('a dashboard that connects late', () => {
  it('A dashboard that connects late shows the same in the end, whenever it connected', async () => {
    const stops = new Stops()
    await using api = await openServer({ ensembles: [duo(stops)] })
    const first = new Screen(api)
    await first.greeted()
    const runId = await submit(api, 'duo')
    const screens = [first]
    // There are four model calls and one tool call.
    for (let stop = 0; stop < 5; stop += 1) {
      await stops.reached()
      await waitForLog(api, runId, { type: 'ensemble_started' })
      for (const path of ['/ws', `/runs/${runId}/ws`]) {
        const screen = new Screen(api, path)
        await screen.greeted()
        screens.push(screen)
      }
      expect(screens.at(-1)?.picture.ensembleId).toBe(runId)
      stops.next()
    }
    const whole = await first.ended(runId)
    for (const screen of screens) {
      expect(await screen.ended(runId)).toEqual(whole)
      expect(screen.problems).toEqual([])
      await screen[Symbol.asyncDispose]()
    }
    await using after = new Screen(api)
    await after.greeted()
    expect([after.picture, after.problems]).toEqual([whole, []])
  })

  it('A dashboard that connects late shows the same when it connects under load', async () => {
    await using api = await openServer({ ensembles: [duo()] })
    const first = new Screen(api)
    await first.greeted()
    const screens = [first]
    first.socket.socket.on('message', () => screens.push(new Screen(api)))
    const runId = await submit(api, 'duo')
    const whole = await first.ended(runId)
    expect(screens.length).toBeGreaterThan(20)
    for (const screen of screens) {
      expect([await screen.ended(runId), screen.problems]).toEqual([whole, []])
      await screen[Symbol.asyncDispose]()
    }
  })

  it.each([
    ['its events', 'task_started'],
    ['its turns', 'llm_iteration_started'],
  ] as const)(
    'A dashboard that connects late shows nothing twice when the run ends before %s are read',
    async (_, type) => {
      const stops = new Stops()
      await using api = await openServer({ ensembles: [duo(stops)] })
      await using first = new Screen(api)
      await first.greeted()
      const runId = await submit(api, 'duo')
      await stops.reached()
      await waitForLog(api, runId, { type: 'llm_iteration_started' })
      const read = api.runs.readEvents.bind(api.runs)
      api.runs.readEvents = async (query) => {
        if (query.types?.includes(type) === true) {
          stops.openAll()
          await first.ended(runId)
        }
        return read(query)
      }
      await using late = new Screen(api)
      await late.ended(runId)
      late.socket.send({ type: 'ping' })
      await late.socket.next('pong')
      expect([late.picture, late.problems]).toEqual([first.picture, []])
    },
  )

  it('[AE-V3] A dashboard that connects late learns how a run ended that has more events than hello can hold', async () => {
    await using api = await openServer({ ensembles: [duo()] })
    await using first = new Screen(api)
    await first.greeted()
    const runId = await submit(api, 'duo')
    await first.ended(runId)
    const read = api.runs.readEvents.bind(api.runs)
    // Repeats the first tool call until the page is full.
    api.runs.readEvents = async (query) => {
      const events = await read(query)
      const at = events.findIndex(({ type }) => type === 'tool_called')
      const called = events[at]
      if (called === undefined) return events
      return [...events.slice(0, at), ...Array.from({ length: query.limit }, () => called)].slice(
        0,
        query.limit,
      )
    }
    await using late = new Screen(api)
    const { tasks, completedAt } = await late.greeted()
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect([completedAt, late.problems]).toEqual([first.picture.completedAt, []])
  })

  it('[AE-V2] A dashboard that connects late gets the last five turns of each conversation in hello, and the current one without its end', async () => {
    const stops = new Stops()
    const looks = solo('looks', {
      tools: tools(),
      model: turnModel((turn) => (turn < 8 ? call('look') : 'Seen it all'), stops),
    })
    await using api = await openServer({ ensembles: [looks] })
    await using first = new Screen(api)
    await first.greeted()
    const runId = await submit(api, 'looks')
    for (let turn = 0; turn < 8; turn += 1) {
      await stops.reached()
      await first.until(({ turns }) => Object.values(turns)[0]?.length === turn + 1)
      if (turn < 7) stops.next()
    }
    await using late = new Screen(api)
    await late.greeted()
    const { recentIterations = [] } = await late.socket.next('hello')
    expect(recentIterations.map(({ started }) => started.iterationIndex)).toEqual([3, 4, 5, 6, 7])
    expect(recentIterations.map(({ completed }) => completed?.iterationIndex)).toEqual([
      3,
      4,
      5,
      6,
      undefined,
    ])
    expect(recentIterations.at(-1)).not.toHaveProperty('completed')
    stops.openAll()
    const { turns } = await late.ended(runId)
    expect(Object.values(turns)).toEqual([
      [3, 4, 5, 6, 7, 8].map((index) => ({
        index,
        pending: false,
        answer: index === 8 ? 'FINAL_ANSWER' : 'TOOL_CALLS',
      })),
    ])
    expect(late.problems).toEqual([])
  })

  it('[AE-V2] A dashboard that connects late gets the last five turns also when there are more than one page of them', async () => {
    const looks = solo('looks', {
      tools: tools(),
      maxIterations: 120,
      model: turnModel((turn) => (turn < 110 ? call('look') : 'Seen it all')),
    })
    await using api = await openServer({ ensembles: [looks] })
    await using first = new Screen(api)
    const { turns } = await first.ended(await submit(api, 'looks'))
    await using late = new Screen(api)
    await late.greeted()
    const [all = []] = Object.values(turns)
    expect(all).toHaveLength(111)
    expect(Object.values(late.picture.turns)).toEqual([all.slice(-5)])
  })

  it('[AE-V2] A dashboard that connects late gets only the turns of the run that it shows', async () => {
    await using api = await openServer({ ensembles: [duo(), solo('last')] })
    await using first = new Screen(api)
    await first.ended(await submit(api, 'duo'))
    await first.ended(await submit(api, 'last'))
    await using late = new Screen(api)
    await late.greeted()
    expect(late.picture).toEqual(first.picture)
    expect(Object.keys(late.picture.turns)).toEqual(['Worker:Work on last'])
  })

  it('[AE-V2] A dashboard that connects late gets the turns of the last attempt at a task, without those of earlier ones', async () => {
    let tries = 0
    const redone = solo('redone', {
      review: { timeoutMs: Infinity },
      model: turnModel(() => `Try ${(tries += 1)}`),
    })
    await using api = await openServer({ ensembles: [redone] })
    await using first = new Screen(api)
    await first.greeted()
    const runId = await submit(api, 'redone')
    const { panels } = await first.until((picture) => picture.panels.length === 1)
    const decided = await api.post(`/api/reviews/${panels[0]?.reviewId}`, {
      decision: 'REJECT',
      feedback: 'Again',
    })
    expect(decided.status).toBe(200)
    await first.until(({ turns }) => turns['Worker:Work on redone']?.length === 2)
    await first.until((picture) => picture.panels.at(-1)?.reviewId !== panels[0]?.reviewId)
    // The task of a repeated attempt still runs; `task_failed` would show it as failed permanently.
    expect(first.picture.tasks).toMatchObject([{ taskIndex: 1, status: 'running' }])
    await using late = new Screen(api, `/runs/${runId}/ws`)
    await late.until((picture) => picture.panels.length === 1)
    const { recentIterations = [] } = await late.socket.next('hello')
    expect(recentIterations).toMatchObject([{ started: { attempt: 2, iterationIndex: 0 } }])
  })

  it('[AE-V2] A dashboard that connects late gets a turn that another model took over once, as it was last started', async () => {
    const stops = new Stops()
    const rescued = solo('rescued', {
      model: turnModel(() => new Error('Not today')),
      fallbackModels: [turnModel(() => 'I can do it', stops)],
    })
    await using api = await openServer({ ensembles: [rescued] })
    const runId = await submit(api, 'rescued')
    await stops.reached()
    await waitForLog(api, runId, { type: 'llm_iteration_started', count: 2 })
    await using late = new Screen(api)
    await late.greeted()
    const { recentIterations = [] } = await late.socket.next('hello')
    expect(recentIterations).toHaveLength(1)
    stops.openAll()
    const { turns } = await late.ended(runId)
    expect(Object.values(turns)).toEqual([[{ index: 0, pending: false, answer: 'FINAL_ANSWER' }]])
  })

  it('[AE-V1] A dashboard that connects late gets the newest ten runs in order of creation, unfinished ones last', async () => {
    const stops = new Stops()
    const quick = solo('quick')
    const slow = solo('slow', { model: turnModel(() => 'At last', stops) })
    await using api = await openServer({ ensembles: [quick, slow] })
    await using first = new Screen(api)
    const old = await submit(api, 'quick')
    await first.ended(old)
    const waiting = await submit(api, 'slow')
    await stops.reached()
    await waitForLog(api, waiting, { type: 'ensemble_started' })
    const newer: string[] = []
    for (let run = 0; run < 9; run += 1) {
      const runId = await submit(api, 'quick')
      await first.ended(runId)
      newer.push(runId)
    }
    await using late = new Screen(api)
    const { before, ensembleId } = await late.greeted()
    expect(before.map((run) => run.ensembleId)).toEqual(newer)
    expect(ensembleId).toBe(waiting)
    stops.openAll()
    const { tasks } = await late.ended(waiting)
    expect(tasks).toMatchObject([{ status: 'completed' }])
    expect(late.problems).toEqual([])
  })
})
