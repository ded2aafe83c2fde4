import { describe, expect, it } from 'vitest'

import { ensemble, handlerOutput, requestRejected, task } from '../src/index.ts'
import { scriptedReviewer } from './testing.ts'
import { eventsOf, listFailures, watchRun } from './watch-run.ts'

const parts = [{ url: 'https://example.com/chart.png', mediaType: 'image/png' }]

describe('a handler with parts', () => {
  it('A handler with parts gives its parts to readers of the event and its text to later tasks', async () => {
    const seen: string[] = []
    const draw = task({
      name: 'draw',
      description: 'Draw',
      handler: () => handlerOutput({ text: 'A chart', parts }),
    })
    const tell = task({
      name: 'tell',
      description: 'Tell',
      context: [draw],
      handler: ({ context }) => {
        seen.push(...context.map(({ output }) => output))
        return 'Told'
      },
    })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [draw, tell] }))
    await ended
    expect(eventsOf(events, 'task_completed')).toMatchObject([
      { taskName: 'draw', output: 'A chart', parts },
      { taskName: 'tell', output: 'Told' },
    ])
    expect(eventsOf(events, 'task_completed')[1]).not.toHaveProperty('parts')
    expect(seen).toEqual(['A chart'])
  })

  it('A handler with parts loses its parts when a reviewer replaces its output', async () => {
    const draw = task({
      name: 'draw',
      description: 'Draw',
      handler: () => handlerOutput({ text: 'A chart', parts }),
      review: { prompt: 'Good?' },
    })
    const reviewer = scriptedReviewer([{ action: 'EDIT', text: 'No chart' }])
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [draw] }), { reviewer })
    await ended
    const [done] = eventsOf(events, 'task_completed')
    expect(done?.output).toBe('No chart')
    expect(done).not.toHaveProperty('parts')
  })

  it('A handler with parts can reject the request, which fails the run with REQUEST_REJECTED without another attempt', async () => {
    const work = task({
      name: 'work',
      description: 'Work',
      retries: 3,
      handler: () => {
        throw requestRejected('Not here')
      },
    })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [work] }))
    expect((await ended).error).toMatchObject({ code: 'REQUEST_REJECTED', message: 'Not here' })
    expect(listFailures(events)).toMatchObject([{ type: 'task_failed', code: 'REQUEST_REJECTED' }])
  })
})

describe('handlerOutput', () => {
  it.each([
    [[], 'parts is empty'],
    [[{}], 'parts/0 has none'],
    [[{ text: 'a' }, { text: 'a', url: 'b' }], 'parts/1 has text and url'],
  ])('handlerOutput rejects %j', (given, problem) => {
    expect(() => handlerOutput({ text: 'x', parts: given })).toThrow(problem)
  })
})
