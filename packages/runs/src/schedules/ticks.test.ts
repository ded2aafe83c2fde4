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

function ticks(cron: string, after: string, count: number, timeZone = BERLIN): readonly string[] {
  return listScheduleTicks({ cron, timeZone }, Date.parse(after), count).map((tick) =>
    new Date(tick).toISOString(),
  )
}

/** Days on which the clocks of zones change: by an hour, by half an hour, and by an hour of a zone that is not at full hours. */
const CHANGES = [
  [BERLIN, '2027-03-28'],
  [BERLIN, '2027-10-31'],
  ['Australia/Lord_Howe', '2027-04-03'],
  ['Australia/Lord_Howe', '2027-10-02'],
  ['America/St_Johns', '2027-03-14'],
  ['America/St_Johns', '2027-11-07'],
] as const

const MINUTE_MS = 60_000

/** Returns each minute of 36 hours whose hour and minute in the zone match. */
function listMinutes(
  day: string,
  timeZone: string,
  matches: (hour: number, minute: number) => boolean,
): readonly number[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const start = Date.parse(day)
  return Array.from({ length: 36 * 60 }, (_, index) => start + index * MINUTE_MS).filter(
    (instant) => {
      const [hour, minute] = format.format(instant).split(':').map(Number)
      return matches(hour ?? NaN, minute ?? NaN)
    },
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

  it('listScheduleTicks finds the tick after the gap from each second around it', () => {
    for (const after of ['2027-03-28T00:59:59Z', '2027-03-28T00:30:00Z', '2027-03-27T01:30:00Z']) {
      expect(ticks('30 2 * * *', after, 1), after).toEqual(['2027-03-28T01:00:00.000Z'])
    }
    expect(ticks('30 2 * * *', '2027-03-28T01:00:00Z', 1)).toEqual(['2027-03-29T00:30:00.000Z'])
    // The time that the clock jumps to has one tick.
    expect(ticks('0 3 * * *', '2027-03-28T00:00:00Z', 2)).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T01:00:00.000Z',
    ])
  })

  it('listScheduleTicks has no second tick in the repeated hour of autumn, from any second in it', () => {
    for (const after of ['2027-10-31T00:30:00Z', '2027-10-31T01:00:00Z', '2027-10-31T01:29:59Z']) {
      expect(ticks('30 2 * * *', after, 1), after).toEqual(['2027-11-01T01:30:00.000Z'])
    }
  })

  it('listScheduleTicks follows a change of half an hour', () => {
    expect(ticks('15 2 * * *', '2027-10-02T00:00:00Z', 2, 'Australia/Lord_Howe')).toEqual([
      '2027-10-02T15:30:00.000Z',
      '2027-10-03T15:15:00.000Z',
    ])
  })

  it.each([
    ['0-59/30 * * * *', (_: number, minute: number) => minute % 30 === 0],
    ['*/15 1-3 * * *', (hour: number, minute: number) => hour > 0 && hour < 4 && minute % 15 === 0],
  ])(
    'listScheduleTicks of %s has each matching minute of the zone, forward and back',
    (cron, matches) => {
      for (const [timeZone, day] of CHANGES) {
        const expected = listMinutes(day, timeZone, matches)
        const [first = 0] = expected
        const found = listScheduleTicks({ cron, timeZone }, first - 1, expected.length)
        expect(found, `${timeZone} ${day}`).toEqual(expected)
        const back = listEarlierTicks({ cron, timeZone }, (found.at(-1) ?? 0) + 1, found.length)
        expect(back, `${timeZone} ${day}`).toEqual(expected)
      }
    },
  )

  it('listScheduleTicks has a tick on February 29 in leap years only, so none in 2100', () => {
    expect(ticks('0 0 29 2 *', '2095-01-01T00:00:00Z', 2, 'UTC')).toEqual([
      '2096-02-29T00:00:00.000Z',
      '2104-02-29T00:00:00.000Z',
    ])
    expect(ticks('59 59 23 L 2 *', '2100-01-01T00:00:00Z', 1, 'UTC')).toEqual([
      '2100-02-28T23:59:59.000Z',
    ])
  })

  it('listScheduleTicks has no tick in months without a 31st', () => {
    expect(ticks('0 0 31 * *', '2027-01-31T12:00:00Z', 3, 'UTC')).toEqual([
      '2027-03-31T00:00:00.000Z',
      '2027-05-31T00:00:00.000Z',
      '2027-07-31T00:00:00.000Z',
    ])
  })

  it('listScheduleTicks reads seconds, and names of days, months and nicknames in any case', () => {
    expect(ticks('*/30 59 23 31 dec *', '2099-12-31T00:00:00Z', 3, 'UTC')).toEqual([
      '2099-12-31T23:59:00.000Z',
      '2099-12-31T23:59:30.000Z',
      '2100-12-31T23:59:00.000Z',
    ])
    for (const [upper, lower] of [
      ['0 9 * JAN-MAR MON-FRI', '0 9 * jan-mar mon-fri'],
      ['@WEEKLY', '@weekly'],
      ['0 0 * * SUN', '0 0 * * 7'],
    ] as const) {
      expect(ticks(lower, '2027-01-01T00:00:00Z', 9)).toEqual(
        ticks(upper, '2027-01-01T00:00:00Z', 9),
      )
    }
  })

  it('listScheduleTicks reads the name of a zone in any case', () => {
    const days = ['2027-03-28T00:00:00Z', '2027-10-31T00:00:00Z']
    for (const day of days) {
      expect(ticks('0 9 * * *', day, 2, 'europe/berlin')).toEqual(ticks('0 9 * * *', day, 2))
    }
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
    const refused = [
      '',
      'x',
      '* * * *',
      '61 * * * *',
      '2027-01-01T00:00:00',
      '0 0 30 2 *',
      '0 0 31 2,4,6 *',
      '* * * * * * *',
      '@reboot',
      '@every 5m',
      '*/0 * * * *',
      '5-1 * * * *',
      '0 24 * * *',
      '-1 * * * *',
      '1.5 * * * *',
      '1e1 * * * *',
      '0 0 0 * *',
      '0 0 1 13 *',
      '* * * * 8',
      '1,,2 * * * *',
      'H * * * *',
      '0 9 * * MON-',
      '\u0663 * * * *',
    ]
    for (const cron of refused) {
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
    const listDelays = (jitterMs: number) =>
      Array.from({ length: 200 }, (_, n) => {
        const tick = n * 60_000
        return findDueTime('a', { cron: '* * * * *', jitterMs }, tick) - tick
      })
    const delays = listDelays(9)
    expect(delays).toEqual(listDelays(9))
    expect([Math.min(...delays), Math.max(...delays)]).toEqual([0, 9])
    expect(new Set(listDelays(0))).toEqual(new Set([0]))
  })

  it('findDueTime delays a tick at most until the one after it, also where the clock changes', () => {
    const times = { cron: '*/30 1-3 * * *', timeZone: BERLIN, jitterMs: 86_400_000 }
    for (const day of ['2027-03-27', '2027-10-30']) {
      const ticks = listScheduleTicks(times, Date.parse(`${day}T20:00:00Z`), 40)
      for (const [index, tick] of ticks.slice(0, -1).entries()) {
        const due = findDueTime('a', times, tick)
        expect(due).toBeGreaterThanOrEqual(tick)
        expect(due).toBeLessThan(ticks[index + 1] ?? 0)
      }
    }
  })
})

describe('toTickKey', () => {
  it('toTickKey is the name and the time', () => {
    expect(toTickKey('brief', 0)).toBe('schedule/brief/1970-01-01T00:00:00.000Z')
  })
})
