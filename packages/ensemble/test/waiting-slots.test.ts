/** Tests of the slots of tasks that only wait for people. */
import { sleep } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type EnsembleDefinition, type Task } from '../src/index.ts'
import { MAX_WAITING_TASKS } from '../src/work/task-slots.ts'
import { joinRuns, startRecorded, type RunProcess } from './recorded-run.ts'
import { fakeClock, type FakeClock } from './testing.ts'
import { eventsOf, nextTurn } from './watch-run.ts'

const FOREVER = { timeoutMs: Infinity }

/** Counts how many handlers run at the same time. */
function createWork(clock: FakeClock, ms = 10) {
  const seen = { running: 0, most: 0 }
  const handler = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
    seen.running += 1
    seen.most = Math.max(seen.most, seen.running)
    await sleep(clock, ms, signal)
    seen.running -= 1
    return 'done'
  }
  return { seen, handler }
}

/** Teams whose tasks are in a plan, a map, a sub-ensemble, or below other tasks. */
const TEAMS: readonly (readonly [string, (child: (name: string) => Task) => readonly Task[]])[] = [
  ['the tasks of a plan', (child) => ['a', 'b', 'c', 'd', 'e'].map(child)],
  [
    'the tasks of a map',
    (child) => [
      task({
        name: 'grow',
        description: 'Grow',
        handler: async ({ map }) =>
          map(['a', 'b', 'c', 'd', 'e'], (item) => child(item), { key: (item) => item }),
      }),
    ],
  ],
  [
    'the tasks of a map with maxParallel',
    (child) => [
      task({
        name: 'grow',
        description: 'Grow',
        handler: async ({ map }) =>
          map(['a', 'b', 'c', 'd', 'e'], (item) => child(item), {
            key: (item) => item,
            maxParallel: 2,
          }),
      }),
    ],
  ],
  [
    'the tasks of a sub-ensemble',
    (child) => [
      task({
        name: 'grow',
        ensemble: ensemble({
          name: 'nested',
          workflow: 'PARALLEL',
          maxConcurrentTasks: 2,
          tasks: ['a', 'b', 'c', 'd', 'e'].map(child),
        }),
      }),
    ],
  ],
  [
    'tasks that add tasks',
    (child) => [
      task({
        name: 'grow',
        description: 'Grow',
        handler: async ({ map }) =>
          map(
            ['a', 'b', 'c', 'd', 'e'],
            (item) =>
              task({
                name: item,
                description: 'Nest',
                handler: ({ task: add }) => add(child('inner')),
              }),
            { key: (item) => item },
          ),
      }),
    ],
  ],
]

function startTeam(
  tasks: readonly Task[],
  {
    clock,
    from,
    ...settings
  }: Partial<EnsembleDefinition> & { clock: FakeClock; from?: RunProcess },
): RunProcess {
  const team = ensemble({
    name: 'team',
    workflow: 'PARALLEL',
    maxConcurrentTasks: 2,
    ...settings,
    tasks,
  })
  return startRecorded(team, { clock, ...(from === undefined ? {} : { from: joinRuns(from) }) })
}

async function settle(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

async function decideAll({ handle }: RunProcess): Promise<void> {
  await Promise.all(
    handle
      .snapshot()
      .reviews.map(({ reviewId }) => handle.decide(reviewId, { action: 'CONTINUE' })),
  )
}

describe.each(TEAMS)('[ENS-P22] %s', (_, toTasks) => {
  it('Tasks that wait for reviews before they begin leave their slots, and take one before they work', async () => {
    const clock = fakeClock()
    const { seen, handler } = createWork(clock)
    const child = (name: string): Task =>
      task({ name, description: 'Work', beforeReview: FOREVER, handler })
    const run = startTeam(toTasks(child), { clock })
    await settle()
    expect([run.handle.snapshot().reviews.length, run.waits.count]).toEqual([5, 1])
    expect(run.handle.snapshot().status).toBe('WAITING_REVIEW')
    const deciding = decideAll(run)
    await clock.advance(100)
    await deciding
    expect((await run.handle.result).status).toBe('COMPLETED')
    expect(seen).toEqual({ running: 0, most: 2 })
  })

  it('A resumed run opens the reviews of all tasks again, and the tasks take slots before they work', async () => {
    const clock = fakeClock()
    const { seen, handler } = createWork(clock)
    const child = (name: string): Task =>
      task({ name, description: 'Work', beforeReview: FOREVER, review: FOREVER, handler })
    const first = startTeam(toTasks(child), { clock })
    await settle()
    first.release()
    const second = startTeam(toTasks(child), { clock, from: first })
    await settle(40)
    expect([second.handle.snapshot().reviews.length, second.waits.count]).toEqual([5, 1])
    void decideAll(second)
    await clock.advance(100)
    await settle()
    expect([second.handle.snapshot().reviews.length, seen.most]).toEqual([5, 2])
    await decideAll(second)
    expect((await second.handle.result).status).toBe('COMPLETED')
    expect(eventsOf(joinRuns(first, second).events, 'review_requested')).toHaveLength(10)
  })
})

describe('[ENS-P22] a task that adds tasks', () => {
  it('A task whose tasks all wait leaves its slot to another task of the plan, and one whose task works does not', async () => {
    const clock = fakeClock()
    const { handler } = createWork(clock, 50)
    const grow = task({
      name: 'grow',
      description: 'Grow',
      async handler({ map }) {
        const children = [
          task({ name: 'waits', description: 'Wait', beforeReview: FOREVER, handler: () => 'w' }),
          task({ name: 'works', description: 'Work', review: FOREVER, handler }),
        ]
        return map(children, (child) => child, { key: ({ name }) => name })
      },
    })
    const other = task({ name: 'other', description: 'Other', handler: () => 'other' })
    const team = ensemble({
      name: 'team',
      workflow: 'PARALLEL',
      maxConcurrentTasks: 1,
      tasks: [
        task({
          name: 'outer',
          ensemble: ensemble({ name: 'inner', maxConcurrentTasks: 2, tasks: [grow] }),
        }),
        other,
      ],
    })
    const run = startRecorded(team, { clock })
    const begun = (): readonly string[] =>
      eventsOf(run.events, 'task_started').map(({ taskName }) => taskName)
    await clock.advance(49)
    expect(run.handle.snapshot().reviews).toHaveLength(1)
    expect(begun()).not.toContain('other')
    await clock.advance(1)
    await settle()
    expect(run.handle.snapshot().reviews).toHaveLength(2)
    expect(begun()).toContain('other')
    await decideAll(run)
    expect((await run.handle.result).status).toBe('COMPLETED')
  })

  it('A run that is cancelled while its tasks wait for slots to continue ends, and none of them works', async () => {
    const clock = fakeClock()
    const { seen, handler } = createWork(clock, 1_000)
    const tasks = ['a', 'b', 'c', 'd'].map((name) =>
      task({ name, description: 'Work', beforeReview: FOREVER, handler }),
    )
    const run = startTeam(tasks, { clock, maxConcurrentTasks: 1 })
    await settle()
    void decideAll(run)
    await settle()
    expect(seen.running).toBe(1)
    void run.handle.cancel({ mode: 'abort' })
    await clock.advance(10)
    expect((await run.handle.result).status).toBe('CANCELLED')
    expect(seen.most).toBe(1)
  })
})

it('[ENS-P23] While 1,000 tasks wait for people, others begin only when one of them continues', async () => {
  const clock = fakeClock()
  const count = MAX_WAITING_TASKS + 50
  const child = task({
    name: 'child',
    description: 'Work on {item}',
    beforeReview: FOREVER,
    handler: () => 'done',
  })
  const grow = task({
    name: 'grow',
    description: 'Grow',
    handler: async ({ map }) =>
      (
        await map(
          Array.from({ length: count }, (_, at) => at),
          child,
          { maxItems: count },
        )
      ).length,
  })
  const run = startTeam([grow], { clock })
  await settle()
  const open = (): number => run.handle.snapshot().reviews.length
  expect(open()).toBeGreaterThanOrEqual(MAX_WAITING_TASKS)
  expect(open()).toBeLessThanOrEqual(MAX_WAITING_TASKS + 2)
  expect(run.waits.count).toBe(1)
  const [first] = run.handle.snapshot().reviews
  await run.handle.decide(first?.reviewId ?? '', { action: 'CONTINUE' })
  await settle()
  // Both slots were free when there was room.
  expect(open()).toBeGreaterThanOrEqual(MAX_WAITING_TASKS)
  expect(open()).toBeLessThanOrEqual(MAX_WAITING_TASKS + 2)
  await decideAll(run)
  await settle()
  expect(open()).toBeLessThan(50)
  await decideAll(run)
  expect(await run.handle.result).toMatchObject({ status: 'COMPLETED', output: String(count) })
})
