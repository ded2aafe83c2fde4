import { runTool, systemClock, toolContext, type Clock } from '@tutti/core'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { datetime, type DatetimeOptions } from './datetime.ts'
import { loadTemporal } from './load-temporal.ts'
import { FORMS } from './parse-command.ts'

/** Creates a clock that stays at one time. */
const at = (instant: string): Clock => ({ ...systemClock, now: () => Date.parse(instant) })

const CLOCK = at('2024-03-15T22:30:45.987Z')

/** Returns the text of the result or of the failure. */
async function ask(command: string, options: DatetimeOptions = {}): Promise<string> {
  const result = await datetime({ clock: CLOCK, ...options }).execute(command, toolContext())
  if (typeof result === 'string') return result
  return result.success ? result.output : `FAILED ${result.errorMessage}`
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('now and today', () => {
  it.each([
    ['now', '2024-03-15T22:30:45 UTC'],
    ['now in Europe/Berlin', '2024-03-15T23:30:45 Europe/Berlin'],
    ['now in America/New_York', '2024-03-15T18:30:45 America/New_York'],
    ['now in Asia/Kolkata', '2024-03-16T04:00:45 Asia/Kolkata'],
    ['now in +05:45', '2024-03-16T04:15:45 +05:45'],
    ['today', '2024-03-15'],
    ['today in Asia/Tokyo', '2024-03-16'],
    ['today in Pacific/Pago_Pago', '2024-03-15'],
    ['  NOW  In  UTC ', '2024-03-15T22:30:45 UTC'],
    ['Today', '2024-03-15'],
    ['now + 90 minutes', '2024-03-16T00:00:45 UTC'],
    ['today + 1 day', '2024-03-16'],
    ['today in Asia/Tokyo - 2 weeks', '2024-03-02'],
    ['now in Etc/GMT+5 + 1 day', '2024-03-16T17:30:45 Etc/GMT+5'],
    ['now in UTC+2 + 1 hour', '2024-03-16T01:30:45 +02:00'],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })

  it('Now and today use UTC unless another zone is configured', async () => {
    const timeZone = 'Pacific/Kiritimati'
    expect(await ask('now', { timeZone })).toBe('2024-03-16T12:30:45 Pacific/Kiritimati')
    expect(await ask('today', { timeZone })).toBe('2024-03-16')
    expect(await ask('today in UTC', { timeZone })).toBe('2024-03-15')
  })

  it('Now and today truncate the time to whole seconds, also before 1970', async () => {
    expect(await ask('now', { clock: at('1969-12-31T23:59:58.500Z') })).toBe(
      '1969-12-31T23:59:58 UTC',
    )
  })

  it('Now and today read the clock at each call', async () => {
    let nowMs = 0
    const tool = datetime({ clock: { ...systemClock, now: () => nowMs } })
    const first = await tool.execute('now', toolContext())
    nowMs = 86_400_000
    const second = await tool.execute('now', toolContext())
    expect([first, second]).toMatchObject([
      { output: '1970-01-01T00:00:00 UTC' },
      { output: '1970-01-02T00:00:00 UTC' },
    ])
  })

  it('Now and today use the system clock by default', async () => {
    const result = await datetime().execute('now', toolContext())
    const { output } = result as { readonly output: string }
    expect(Math.abs(Date.parse(output.replace(' UTC', 'Z')) - Date.now())).toBeLessThan(60_000)
  })
})

describe('arithmetic on dates', () => {
  it.each([
    ['2024-01-15 + 30 days', '2024-02-14'],
    ['2024-01-15 - 30 days', '2023-12-16'],
    ['2024-01-15 + 1 day', '2024-01-16'],
    ['2024-01-15 + 2 Weeks', '2024-01-29'],
    ['2024-01-15 - 1 WEEK', '2024-01-08'],
    ['2024-01-31 + 1 month', '2024-02-29'],
    ['2023-01-31 + 1 month', '2023-02-28'],
    ['2024-03-31 - 1 month', '2024-02-29'],
    ['2024-02-29 + 1 year', '2025-02-28'],
    ['2024-02-29 + 4 years', '2028-02-29'],
    ['2024-02-28 + 1 day', '2024-02-29'],
    ['1900-02-28 + 1 day', '1900-03-01'],
    ['2024-12-31+1day', '2025-01-01'],
    ['2024-01-15 − 1 day', '2024-01-14'],
    ['2024-01-31 + 1 month + 1 day', '2024-03-01'],
    ['2024-01-31 + 1 day + 1 month', '2024-03-01'],
    ['2024-01-15 + 0 days', '2024-01-15'],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })

  it.each([
    ['0999-12-31 + 1 day', '1000-01-01'],
    ['0001-01-01 - 1 day', '0000-12-31'],
    ['0000-01-01 - 1 day', '-000001-12-31'],
    ['9999-12-31 + 1 day', '+010000-01-01'],
    ['+012345-06-07 + 1 year', '+012346-06-07'],
    ['-000044-03-15 + 1 month', '-000044-04-15'],
  ])(
    'Date arithmetic writes years beyond four digits with six digits and a sign: %s',
    async (command, answer) => {
      expect(await ask(command)).toBe(answer)
    },
  )

  it.each(['hours', 'minutes', 'seconds'])(
    'Date arithmetic rejects %s without a time',
    async (unit) => {
      expect(await ask(`2024-01-15 + 3 ${unit}`)).toBe(
        `FAILED Cannot add ${unit} to a date; write a time as well, such as 2024-01-15T00:00:00`,
      )
    },
  )
})

describe('[TOOLS-M4] arithmetic on times keeps the form of the input', () => {
  it.each([
    ['2024-01-15T10:00:00Z + 2 hours', '2024-01-15T12:00:00Z'],
    ['2024-01-15T10:00:00z + 2 hours', '2024-01-15T12:00:00Z'],
    ['2024-01-15T10:00:00 + 2 hours', '2024-01-15T12:00:00Z'],
    ['2024-01-15T10:00 - 1 second', '2024-01-15T09:59:59Z'],
    ['2024-01-15 10:00 + 15 minutes', '2024-01-15T10:15:00Z'],
    ['2024-01-15T23:59:59Z + 1 second', '2024-01-16T00:00:00Z'],
    ['2024-01-15T10:00:00.250Z + 1 second', '2024-01-15T10:00:01.25Z'],
    ['2024-01-15T10:00:00+02:00 + 2 hours', '2024-01-15T12:00:00+02:00'],
    ['2024-01-15T10:00:00-0330 + 1 month', '2024-02-15T10:00:00-03:30'],
    ['2024-01-15T10:00:00+02 + 1 day', '2024-01-16T10:00:00+02:00'],
    ['2024-01-15T10:00:00+00:00 + 1 day', '2024-01-16T10:00:00+00:00'],
    ['2024-01-15T10:00:00-05:00-5 hours', '2024-01-15T05:00:00-05:00'],
    ['2024-01-15T10:00[Europe/Berlin] + 1 week', '2024-01-22T10:00:00+01:00[Europe/Berlin]'],
    [
      '2024-01-15T10:00+01:00[europe/berlin] + 1 sec',
      'FAILED Unknown unit: "sec"; use one of ' +
        'seconds, minutes, hours, days, weeks, months, years',
    ],
    ['2024-07-15T10:00+02:00[europe/berlin] + 1 year', '2025-07-15T10:00:00+02:00[Europe/Berlin]'],
    ['2024-01-15T10:00[+05:30] + 1 day', '2024-01-16T10:00:00+05:30[+05:30]'],
    ['2024-02-29T12:00Z + 1 year', '2025-02-28T12:00:00Z'],
    ['2024-02-29T12:00Z - 1 month - 1 hour', '2024-01-29T11:00:00Z'],
    ['2016-12-31T23:59:60Z + 1 second', '2017-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z + 1 second', '+010000-01-01T00:00:00Z'],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })
})

describe('[TOOLS-M1] a local time that is skipped or occurs twice', () => {
  it.each([
    // Berlin changes from 02:00 to 03:00 on 2024-03-31, and from 03:00 to 02:00 on 2024-10-27.
    ['convert 2024-03-31T02:30 from Europe/Berlin to UTC', '2024-03-31T01:30:00 UTC'],
    ['convert 2024-03-31T01:59:59 from Europe/Berlin to UTC', '2024-03-31T00:59:59 UTC'],
    ['convert 2024-03-31T03:00 from Europe/Berlin to UTC', '2024-03-31T01:00:00 UTC'],
    ['2024-03-31T02:30[Europe/Berlin] + 0 seconds', '2024-03-31T03:30:00+02:00[Europe/Berlin]'],
    ['convert 2024-10-27T02:30 from Europe/Berlin to UTC', '2024-10-27T00:30:00 UTC'],
    ['2024-10-27T02:30[Europe/Berlin] + 1 hour', '2024-10-27T02:30:00+01:00[Europe/Berlin]'],
    ['2024-10-27T02:30[Europe/Berlin] + 2 hours', '2024-10-27T03:30:00+01:00[Europe/Berlin]'],
    // Lord Howe changes by half an hour, from 02:00 to 02:30 on 2024-10-06.
    ['convert 2024-10-06T02:15 from Australia/Lord_Howe to UTC', '2024-10-05T15:45:00 UTC'],
    [
      '2024-10-06T02:15[Australia/Lord_Howe] + 0 days',
      '2024-10-06T02:45:00+11:00[Australia/Lord_Howe]',
    ],
    ['convert 2024-04-07T01:45 from Australia/Lord_Howe to UTC', '2024-04-06T14:45:00 UTC'],
    ['convert 2024-04-07T01:45+10:30 from Australia/Lord_Howe to UTC', '2024-04-06T15:15:00 UTC'],
    // Samoa skipped 2011-12-30 when it crossed the date line.
    ['2011-12-29T12:00[Pacific/Apia] + 1 day', '2011-12-31T12:00:00+14:00[Pacific/Apia]'],
    ['2011-12-29T12:00[Pacific/Apia] + 24 hours', '2011-12-31T12:00:00+14:00[Pacific/Apia]'],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })
})

describe('[TOOLS-M3] days keep the local time, hours are exact', () => {
  it.each([
    ['2024-03-30T12:00[Europe/Berlin] + 1 day', '2024-03-31T12:00:00+02:00[Europe/Berlin]'],
    ['2024-03-30T12:00[Europe/Berlin] + 24 hours', '2024-03-31T13:00:00+02:00[Europe/Berlin]'],
    ['2024-10-26T12:00[Europe/Berlin] + 1 day', '2024-10-27T12:00:00+01:00[Europe/Berlin]'],
    ['2024-10-26T12:00[Europe/Berlin] + 24 hours', '2024-10-27T11:00:00+01:00[Europe/Berlin]'],
    ['2024-03-30T02:30[Europe/Berlin] + 1 day', '2024-03-31T03:30:00+02:00[Europe/Berlin]'],
    ['2024-03-30T12:00+01:00 + 1 day', '2024-03-31T12:00:00+01:00'],
    [
      '2024-10-05T02:15[Australia/Lord_Howe] + 24 hours',
      '2024-10-06T02:45:00+11:00[Australia/Lord_Howe]',
    ],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })
})

describe('[TOOLS-M2] an offset must be one that the zone has at that time', () => {
  it.each([
    ['convert 2024-10-27T02:30+01:00 from Europe/Berlin to UTC', '2024-10-27T01:30:00 UTC'],
    ['convert 2024-10-27T02:30+02:00 from Europe/Berlin to UTC', '2024-10-27T00:30:00 UTC'],
    ['convert 2024-10-27T02:30+01 from Europe/Berlin to UTC', '2024-10-27T01:30:00 UTC'],
    ['2024-10-27T02:30+0100[Europe/Berlin] + 1 second', '2024-10-27T02:30:01+01:00[Europe/Berlin]'],
    [
      'convert 2024-01-15T10:00:00Z from UTC to America/Chicago',
      '2024-01-15T04:00:00 America/Chicago',
    ],
    ['convert 2024-01-15T10:00Z from Europe/London to UTC', '2024-01-15T10:00:00 UTC'],
    [
      '1800-01-01T10:00+00:53:28[Europe/Berlin] + 1 day',
      '1800-01-02T10:00:00+00:53:28[Europe/Berlin]',
    ],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })

  it.each([
    ['convert 2024-07-15T10:00Z from Europe/London to UTC', 'Z', 'Europe/London'],
    ['convert 2024-01-15T10:00+02:00 from Europe/Berlin to UTC', '+02:00', 'Europe/Berlin'],
    ['convert 2024-03-31T02:30+01:00 from Europe/Berlin to UTC', '+01:00', 'Europe/Berlin'],
    ['convert 2024-03-31T02:30+02:00 from Europe/Berlin to UTC', '+02:00', 'Europe/Berlin'],
    ['2024-01-15T10:00+05:00[Europe/Berlin] + 1 day', '+05:00', 'Europe/Berlin'],
  ])(
    'An offset that the zone does not have at that time is rejected: %s',
    async (command, offset, zone) => {
      expect(await ask(command)).toMatch(/^FAILED Invalid date format: "2024/)
      expect(await ask(command)).toContain(
        `${zone} does not have the offset ${offset} at that time`,
      )
    },
  )
})

describe('convert', () => {
  it.each([
    [
      'convert 2024-07-01T09:00:00 from Europe/Berlin to America/New_York',
      '2024-07-01T03:00:00 America/New_York',
    ],
    [
      'CONVERT 2024-07-01 09:00 FROM europe/berlin TO asia/kolkata',
      '2024-07-01T12:30:00 Asia/Kolkata',
    ],
    [
      'convert 2024-01-01T12:00 from Pacific/Kiritimati to Pacific/Pago_Pago',
      '2023-12-31T11:00:00 Pacific/Pago_Pago',
    ],
    ['convert 2024-07-01T09:00 from +02:00 to UTC', '2024-07-01T07:00:00 UTC'],
    ['convert 2024-07-01T09:00:00.5 from UTC to GMT-3', '2024-07-01T06:00:00.5 -03:00'],
    ['convert 2024-07-01T09:00Z to Asia/Kathmandu', '2024-07-01T14:45:00 Asia/Kathmandu'],
    ['convert 2024-07-01T09:00+02:00 to UTC', '2024-07-01T07:00:00 UTC'],
    ['convert 2024-07-01T09:00[Europe/Berlin] to UTC', '2024-07-01T07:00:00 UTC'],
    [
      'convert 2024-07-01T09:00[Europe/Berlin] from europe/berlin to UTC',
      '2024-07-01T07:00:00 UTC',
    ],
  ])('The datetime tool answers "%s" with "%s"', async (command, answer) => {
    expect(await ask(command)).toBe(answer)
  })

  it('`convert` adds the offset if the local time occurs twice', async () => {
    const to = 'from UTC to Europe/Berlin'
    expect(await ask(`convert 2024-10-27T00:30 ${to}`)).toBe(
      '2024-10-27T02:30:00+02:00 Europe/Berlin',
    )
    expect(await ask(`convert 2024-10-27T01:30 ${to}`)).toBe(
      '2024-10-27T02:30:00+01:00 Europe/Berlin',
    )
    expect(await ask(`convert 2024-10-27T02:00 ${to}`)).toBe('2024-10-27T03:00:00 Europe/Berlin')
    expect(await ask('now in Europe/Berlin', { clock: at('2024-10-27T00:59:59Z') })).toBe(
      '2024-10-27T02:59:59+02:00 Europe/Berlin',
    )
  })

  it.each([
    [
      'convert 2024-07-01T09:00 to UTC',
      'Unrecognized command: "convert 2024-07-01T09:00 to UTC". ',
    ],
    [
      'convert 2024-07-01 from UTC to Asia/Tokyo',
      'Invalid date format: "2024-07-01"; expected a time as well',
    ],
    ['convert noon from UTC to Asia/Tokyo', 'Invalid date format: "noon"; expected yyyy-MM-dd'],
    ['convert 2024-07-01T09:00 from Mars to UTC', 'Unknown timezone: Mars'],
    ['convert 2024-07-01T09:00 from UTC to Mars', 'Unknown timezone: Mars'],
    [
      'convert 2024-07-01T09:00[Asia/Tokyo] from UTC to UTC',
      'Invalid date format: "2024-07-01T09:00[Asia/Tokyo]"; its zone is not UTC',
    ],
    ['convert 2024-07-01T09:00 from UTC', 'Unrecognized command'],
  ])('`convert` fails for %s', async (command, start) => {
    expect((await ask(command)).startsWith(`FAILED ${start}`), await ask(command)).toBe(true)
  })
})

describe('zones', () => {
  it.each([
    ['utc', 'UTC'],
    ['Z', 'UTC'],
    ['gmt', 'GMT'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['America/New York', 'America/New_York'],
    ['america/argentina/buenos_aires', 'America/Argentina/Buenos_Aires'],
    ['etc/gmt-14', 'Etc/GMT-14'],
    ['EST', 'EST'],
    ['+5', '+05:00'],
    ['-0330', '-03:30'],
    ['UTC+5:30', '+05:30'],
    ['GMT-3', '-03:00'],
    ['UTC −3', '-03:00'],
    ['UTC+23:59', '+23:59'],
  ])('The zone lookup finds %s as %s', async (name, id) => {
    expect((await ask(`now in ${name}`)).split(' ')[1]).toBe(id)
  })

  it.each([
    ['Europe/Berln', 'did you mean Europe/Berlin?'],
    ['Berlin', 'did you mean Europe/Berlin?'],
    ['new york', 'did you mean America/New_York?'],
    ['Los Angles', 'did you mean America/Los_Angeles?'],
    ['PST', 'did you mean America/Los_Angeles?'],
    ['ist', 'did you mean Asia/Kolkata?'],
    ['Mars/Olympus', 'use an IANA name such as Europe/Berlin, or an offset such as +02:00'],
    ['+24', 'use an IANA name such as Europe/Berlin, or an offset such as +02:00'],
    ['+05:60', 'use an IANA name such as Europe/Berlin, or an offset such as +02:00'],
    ['__proto__', 'use an IANA name such as Europe/Berlin, or an offset such as +02:00'],
    ['2024-07-01T09:00[Europe/Berlin]', 'did you mean Europe/Berlin?'],
  ])('The zone lookup does not find %s', async (name, hint) => {
    expect(await ask(`now in ${name}`)).toBe(`FAILED Unknown timezone: ${name}; ${hint}`)
  })

  it('The zone lookup names an unknown zone in brackets', async () => {
    expect(await ask('2024-01-15T10:00[Europe/Pairs] + 1 day')).toBe(
      'FAILED Unknown timezone: Europe/Pairs; did you mean Europe/Paris?',
    )
  })
})

describe('an unrecognized command', () => {
  it.each([
    'hello',
    '2024-03-15',
    'now in',
    'tomorrow',
    '2024-01-15 + days',
    '2024-01-15 + 3',
    'nowhere',
    '2024-01-15 + 3 working days',
  ])('An unrecognized command fails with the known forms: %s', async (command) => {
    expect(await ask(command)).toBe(
      `FAILED Unrecognized command: "${command}". Known forms: ${FORMS}`,
    )
  })

  it('An unrecognized command fails with the known forms when it is blank', async () => {
    expect(await ask(' ')).toBe(
      `FAILED Unrecognized command: the command is blank. Known forms: ${FORMS}`,
    )
  })

  it('An unrecognized command is not parsed and not quoted when it is too long', async () => {
    const answer = await ask(`now in ${'x'.repeat(300)}`)
    expect(answer).toMatch(/^FAILED Unrecognized command: "now in x+…"\. Known forms/)
    expect(answer.length).toBeLessThan(400)
    expect(await ask(' '.repeat(500).concat('now'))).toBe('2024-03-15T22:30:45 UTC')
  })
})

describe('an invalid date', () => {
  it.each([
    '2024-13-01',
    '2024-02-30',
    '2023-02-29',
    '2024-00-10',
    '2024-01-15T24:00',
    '2024-01-15T10:60',
    '-000000-01-01',
    '+999999-01-01',
  ])('An invalid date is rejected when it does not exist: %s', async (date) => {
    expect(await ask(`${date} + 1 day`)).toBe(
      `FAILED Invalid date format: "${date}"; this date or time does not exist`,
    )
  })

  it.each([
    'tomorrow',
    '15.03.2024',
    '2024-3-15',
    '20240315',
    '10000-01-01',
    '2024-01-15T10',
    '2024-01-15T1:00',
    '2024-W03-1',
    '2024-01-15[u-ca=hebrew]',
    '2024-01-15T10:00 Europe/Berlin',
    '2024-01-15Z',
  ])('An invalid date is rejected when it has another form: %s', async (date) => {
    expect(await ask(`${date} + 1 day`)).toContain(
      `FAILED Invalid date format: "${date}"; expected yyyy-MM-dd, or yyyy-MM-ddTHH:mm:ss`,
    )
  })

  it('An invalid date is rejected when its offset is a day or more', async () => {
    expect(await ask('2024-01-15T10:00+25:00 + 1 day')).toContain('Unknown timezone: +25:00')
  })
})

describe('amounts', () => {
  it.each([
    [
      '2024-01-15 + 1.5 days',
      'Amount must be a whole number without separators, got "1.5"; use a smaller unit for fractions',
    ],
    [
      '2024-01-15 + 1,000 days',
      'Amount must be a whole number without separators, got "1,000"; use a smaller unit for fractions',
    ],
    [
      '2024-01-15 + 3 fortnights',
      'Unknown unit: "fortnights"; use one of seconds, minutes, hours, days, weeks, months, years',
    ],
    ['2024-01-15 + 99999999999999999999 days', 'Amount too large: "99999999999999999999"'],
    [
      '2024-01-15 + 9007199254740991 days',
      'Out of range: "2024-01-15 + 9007199254740991 days" is outside the years -271821 to 275760',
    ],
    [
      '2024-01-15 + 5000000000 years',
      'Out of range: "2024-01-15 + 5000000000 years" is outside the years -271821 to 275760',
    ],
    [
      '2024-01-15T00:00Z - 300000 years',
      'Out of range: "2024-01-15T00:00Z - 300000 years" is outside the years -271821 to 275760',
    ],
    [
      '-271821-04-19T12:00Z + 1 second',
      'Out of range: "-271821-04-19T12:00Z + 1 second" is outside the years -271821 to 275760',
    ],
  ])('An amount fails for %s', async (command, message) => {
    expect(await ask(command)).toBe(`FAILED ${message}`)
  })

  it('Amounts reach to the first and last year', async () => {
    expect(await ask('+275760-09-12 + 1 day')).toBe('+275760-09-13')
    expect(await ask('convert +275760-09-13T00:00Z to Asia/Tokyo')).toBe(
      '+275760-09-13T09:00:00 Asia/Tokyo',
    )
  })
})

describe('Temporal', () => {
  it('Temporal is built in where Node has it', async () => {
    const finished = { ZonedDateTime: { prototype: { timeZoneId: 'UTC' } } }
    vi.stubGlobal('Temporal', finished)
    expect(await loadTemporal()).toBe(finished)
  })

  it.each([
    ['none', undefined],
    ['a draft', { ZonedDateTime: { prototype: { timeZone: 'UTC' } } }],
  ])('Temporal is the polyfill where Node has %s', async (_title, native) => {
    vi.stubGlobal('Temporal', native)
    const temporal = await loadTemporal()
    expect(temporal).not.toBe(native)
    expect(temporal.PlainDate.from('2024-01-15').day).toBe(15)
  })
})

describe('datetime', () => {
  it('The datetime tool accepts its input as models send it, and returns a failed result for an invalid command', async () => {
    const run = (input: string): ReturnType<typeof runTool> =>
      runTool(datetime({ clock: CLOCK }), {
        id: '1',
        name: 'datetime',
        arguments: JSON.stringify({ input }),
      })
    expect((await run('today')).result).toMatchObject({ success: true, output: '2024-03-15' })
    expect(await run('2024-01-01 + 400000 years')).toMatchObject({
      end: 'finished',
      result: { success: false },
    })
  })

  it('The datetime tool has default settings', () => {
    expect(datetime()).toMatchObject({ name: 'datetime', kind: 'text' })
    expect(datetime({ name: 'clock', timeoutMs: 5 })).toMatchObject({ name: 'clock', timeoutMs: 5 })
  })

  it('The datetime tool rejects an invalid time zone at creation', () => {
    expect(() => datetime({ timeZone: 'Mars' })).toThrow(
      new RangeError(
        'Cannot define tool "datetime": timeZone must be an IANA name or an offset, got "Mars"',
      ),
    )
  })
})
