import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { advance, HOUR, HOURLY, listTicks, nextHour, openSchedules, RUN } from './scheduled-runs.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

describe('a schedule', () => {
  it('[RUNS-SC5] [RUNS-SC8] A schedule submits one run at each tick, tagged with its name and the tick', async () => {
    using directory = temporaryDirectory()
    const { clock, service } = await openSchedules(directory.path)
    const expected = [nextHour(clock), nextHour(clock, 2)]
    const saved = await service.schedules.add({ name: 'brief', definition: HOURLY })
    expect(saved).toMatchObject({ revision: 1, nextTick: Date.parse(nextHour(clock)) })
    await advance(clock, 2 * HOUR, HOUR / 4)
    await expect.poll(() => listTicks(service, 'brief')).toEqual(expected)
    const { lastRun, problem, nextTick } = await service.schedules.get('brief')
    expect([lastRun?.tick, problem, nextTick]).toEqual([
      Date.parse(expected[1] ?? ''),
      undefined,
      Date.parse(nextHour(clock)),
    ])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC5] A process that dies after the run and before the next tick was set leaves one run', async () => {
    using directory = temporaryDirectory()
    const { clock, service, storage } = await openSchedules(directory.path)
    await service.schedules.add({ name: 'brief', definition: HOURLY })
    const { schedules } = storage
    const settle = schedules.settle.bind(schedules)
    let lost = 0
    schedules.settle = () => {
      lost += 1
      return Promise.reject(new TuttiError('STORE_UNAVAILABLE', 'no connection'))
    }
    await advance(clock, HOUR, HOUR / 4)
    await expect.poll(() => lost).toBeGreaterThan(0)
    schedules.settle = settle
    await advance(clock, 20_000, 5_000)
    const read = () => service.schedules.get('brief')
    await expect.poll(async () => (await read()).lastRun?.tick).toBe(Date.parse(nextHour(clock, 0)))
    expect(await listTicks(service, 'brief')).toEqual([nextHour(clock, 0)])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC8] A paused schedule has no ticks, and does not catch up when it is resumed', async () => {
    using directory = temporaryDirectory()
    const { clock, service } = await openSchedules(directory.path)
    const paused = await service.schedules.add({
      name: 'brief',
      definition: HOURLY,
      isPaused: true,
    })
    expect([paused.nextTick, await service.schedules.nextTicks(paused, 3)]).toEqual([undefined, []])
    await advance(clock, 3 * HOUR, HOUR)
    expect(await listTicks(service, 'brief')).toEqual([])
    const resumed = await service.schedules.setPaused('brief', false)
    expect(await service.schedules.nextTicks(resumed, 2)).toEqual(
      [nextHour(clock), nextHour(clock, 2)].map((tick) => Date.parse(tick)),
    )
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A schedule with overlap skip leaves out ticks while its last run has not ended', async () => {
    using directory = temporaryDirectory()
    const { clock, service } = await openSchedules(directory.path, { executes: false })
    const first = nextHour(clock)
    const definition = { ...HOURLY, overlap: 'skip' } as const
    await service.schedules.add({ name: 'brief', definition })
    await advance(clock, 2 * HOUR, HOUR / 4)
    const read = () => service.schedules.get('brief')
    await expect.poll(async () => (await read()).problem?.code).toBe('SKIPPED')
    expect(await listTicks(service, 'brief')).toEqual([first])
    await service.schedules.replace({
      name: 'brief',
      definition: { ...definition, overlap: 'cancel' },
    })
    await advance(clock, HOUR, HOUR / 4)
    await expect.poll(() => listTicks(service, 'brief')).toEqual([first, nextHour(clock, 0)])
    const { runs } = await service.list({ limit: 10 })
    expect(runs.map(({ status }) => status)).toEqual(['ACCEPTED', 'CANCELLED'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC6] A tick that is refused is recorded, and neither its next tick nor other schedules are affected', async () => {
    using directory = temporaryDirectory()
    let isAllowed = true
    const { clock, service } = await openSchedules(directory.path, {
      authorizeSchedule: async (actor) => {
        if (actor === 'ci' && !isAllowed) throw new TuttiError('FORBIDDEN', 'Key "ci" has expired')
        return undefined
      },
    })
    await service.schedules.add({ name: 'a', definition: HOURLY, actor: 'ci' })
    await service.schedules.add({ name: 'b', definition: HOURLY })
    isAllowed = false
    await advance(clock, HOUR, HOUR / 4)
    const refused = nextHour(clock, 0)
    await expect.poll(() => listTicks(service, 'b')).toEqual([refused])
    const read = () => service.schedules.get('a')
    await expect
      .poll(async () => (await read()).problem)
      .toMatchObject({
        tick: Date.parse(refused),
        code: 'FORBIDDEN',
        message: 'Key "ci" has expired',
      })
    isAllowed = true
    await advance(clock, HOUR, HOUR / 4)
    await expect.poll(() => listTicks(service, 'a')).toEqual([nextHour(clock, 0)])
    const { runs } = await service.list({ tag: { key: 'schedule', value: 'a' }, limit: 10 })
    expect(runs.map(({ actor }) => actor)).toEqual(['ci'])
    expect((await read()).problem).toBeUndefined()
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC7] A tick is tried again while the queue is full', async () => {
    using directory = temporaryDirectory()
    const { clock, service, storage } = await openSchedules(directory.path)
    await service.schedules.add({ name: 'brief', definition: HOURLY })
    const create = storage.runs.create.bind(storage.runs)
    storage.runs.create = () =>
      Promise.reject(new TuttiError('CONCURRENCY_LIMIT', 'The queue is full', { retryable: true }))
    await advance(clock, HOUR, HOUR / 4)
    const read = () => service.schedules.get('brief')
    await expect.poll(async () => (await read()).problem?.code).toBe('CONCURRENCY_LIMIT')
    storage.runs.create = create
    await advance(clock, 10_000, 5_000)
    await expect.poll(() => listTicks(service, 'brief')).toEqual([nextHour(clock, 0)])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('An invalid schedule is refused with all of its problems, and those of its run', async () => {
    using directory = temporaryDirectory()
    const { service } = await openSchedules(directory.path)
    const definition = {
      cron: '61 * * * *',
      timeZone: 'Mars/Olympus',
      jitterMs: -1,
      catchUp: 'none' as never,
      run: { inputs: { topic: 'Bach', tpoic: 'x' } },
    }
    const refused = await service.schedules
      .add({ name: 'a b', definition })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'BAD_REQUEST' })
    const { problems } = (refused as TuttiError).details as {
      readonly problems: readonly { readonly path: string }[]
    }
    expect(problems.map(({ path }) => path).slice(0, 5)).toEqual([
      '/name',
      '/timeZone',
      '/cron',
      '/jitterMs',
      '/catchUp',
    ])
    expect(problems.at(5)?.path).toMatch(/^\/run/)
    await service.close({ drainTimeoutMs: 0 })
  })

  it('A schedule beyond the maximum number is refused with SCHEDULE_LIMIT', async () => {
    using directory = temporaryDirectory()
    const { service, storage } = await openSchedules(directory.path)
    const { add } = storage.schedules
    const limits: number[] = []
    storage.schedules.add = (schedule, maxSchedules) => {
      limits.push(maxSchedules)
      return add(schedule, 1)
    }
    await service.schedules.add({ name: 'a', definition: HOURLY })
    await expect(service.schedules.add({ name: 'b', definition: HOURLY })).rejects.toMatchObject({
      code: 'SCHEDULE_LIMIT',
    })
    expect(limits).toEqual([1_000, 1_000])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-SC9] Schedules of the configuration replace saved ones, and disappear with their entry', async () => {
    using directory = temporaryDirectory()
    const first = await openSchedules(directory.path)
    await first.service.schedules.add({ name: 'saved', definition: HOURLY })
    await first.service.schedules.add({ name: 'brief', definition: HOURLY })
    await first.service.close({ drainTimeoutMs: 0 })
    const configured = { name: 'brief', cron: '0 9 * * *', run: RUN }
    const other = { name: 'other', cron: '0 8 * * *', run: RUN, paused: true }
    const second = await openSchedules(
      directory.path,
      { schedules: [configured, other] },
      first.clock,
    )
    const list = await second.service.schedules.list()
    expect(list.map(({ name, isConfigured, isPaused }) => [name, isConfigured, isPaused])).toEqual([
      ['brief', true, false],
      ['other', true, true],
      ['saved', false, false],
    ])
    const changes = [
      second.service.schedules.replace({ name: 'brief', definition: HOURLY }),
      second.service.schedules.setPaused('brief', true),
      second.service.schedules.delete('brief'),
    ]
    for (const change of changes) {
      await expect(change).rejects.toMatchObject({ code: 'SCHEDULE_READ_ONLY' })
    }
    const { revision } = await second.service.schedules.get('brief')
    await second.service.close({ drainTimeoutMs: 0 })
    const third = await openSchedules(directory.path, { schedules: [configured] }, first.clock)
    const names = (await third.service.schedules.list()).map(({ name }) => name)
    expect(names).toEqual(['brief', 'saved'])
    expect((await third.service.schedules.get('brief')).revision).toBe(revision)
    await third.service.close({ drainTimeoutMs: 0 })
  })
})
