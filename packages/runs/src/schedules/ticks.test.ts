import { describe, expect, it } from 'vitest'

import {
  findCronProblem,
  findDueTime,
  findNextTick,
  isTimeZone,
  listEarlierTicks,
  listScheduleTicks,
  toTickKey,
} from './ticks.ts'

const BERLIN = 'Europe/Berlin'

function ticks(cron: string, after: string, count: number): readonly string[] {
  return listScheduleTicks({ cron, timeZone: BERLIN }, Date.parse(after), count).map((tick) =>
    new Date(tick).toISOString(),
  )
}

describe('listScheduleTicks', () => {
  it('listScheduleTicks has a fixed time that the clock skips in spring once, at the first time after the gap', () => {
    expect(ticks('30 2 * * *', '2027-03-27T12:00:00Z', 2)).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
  })

  it('listScheduleTicks has a fixed time that occurs twice in autumn once, at the first', () => {
    expect(ticks('30 2 * * *', '2027-10-30T12:00:00Z', 2)).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ])
  })

  it('listScheduleTicks leaves out repeated times in the gap of spring, and has both of autumn', () => {
    expect(ticks('*/30 2 * * *', '2027-03-27T12:00:00Z', 1)).toEqual(['2027-03-29T00:00:00.000Z'])
    expect(ticks('*/30 2 * * *', '2027-10-30T12:00:00Z', 5)).toEqual([
      '2027-10-31T00:00:00.000Z',
      '2027-10-31T00:30:00.000Z',
      '2027-10-31T01:00:00.000Z',
      '2027-10-31T01:30:00.000Z',
      '2027-11-01T01:00:00.000Z',
    ])
  })

  it('listScheduleTicks begins after the instant, also if that is a tick', () => {
    const at = Date.parse('2027-01-01T12:00:00Z')
    expect(findNextTick({ cron: '* * * * *' }, at)).toBe(at + 60_000)
    expect(findNextTick({ cron: '* * * * *' }, at - 1)).toBe(at)
    expect(listEarlierTicks({ cron: '* * * * *' }, at + 1, 2)).toEqual([at - 60_000, at])
  })
})

describe('findCronProblem', () => {
  it('findCronProblem accepts five fields, six fields and nicknames', () => {
    for (const cron of ['0 9 * * MON-FRI', '*/10 * * * * *', '@daily', '0 0 L * *']) {
      expect(findCronProblem(cron)).toBeUndefined()
    }
  })

  it('findCronProblem refuses everything else, with its value', () => {
    for (const cron of ['', 'x', '* * * *', '61 * * * *', '2027-01-01T00:00:00', '0 0 30 2 *']) {
      expect(findCronProblem(cron)).toContain(JSON.stringify(cron))
    }
  })
})

describe('isTimeZone', () => {
  it('isTimeZone knows IANA names', () => {
    expect([isTimeZone(BERLIN), isTimeZone('UTC'), isTimeZone('Mars/Olympus')]).toEqual([
      true,
      true,
      false,
    ])
  })
})

describe('findDueTime', () => {
  it('findDueTime delays a tick by the same time in every process, up to the jitter', () => {
    const delays = Array.from({ length: 200 }, (_, n) => findDueTime('a', { jitterMs: 9 }, n) - n)
    expect(delays).toEqual(
      Array.from({ length: 200 }, (_, n) => findDueTime('a', { jitterMs: 9 }, n) - n),
    )
    expect([Math.min(...delays), Math.max(...delays)]).toEqual([0, 9])
    expect(findDueTime('a', {}, 5)).toBe(5)
  })
})

describe('toTickKey', () => {
  it('toTickKey is the name and the time', () => {
    expect(toTickKey('brief', 0)).toBe('schedule/brief/1970-01-01T00:00:00.000Z')
  })
})
