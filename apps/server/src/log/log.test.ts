import { redactor } from '@tutti/control-api/internal'
import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { LOG_LEVELS } from '../environment/log-level.ts'
import { atLevel, jsonLogger } from './log.ts'

const SECRET = 'sk-live-"1234567890"'

describe('jsonLogger', () => {
  it('jsonLogger writes one JSON object per line', () => {
    const { logger, lines } = recording()
    logger.info('Hello', { runId: 'a\nb', size: 10n })
    logger.info('a\u2028b\u2029c\u0085d')
    const odd = lines.pop() ?? ''
    expect(odd).not.toMatch(/[\u0085\u2028\u2029]/)
    expect(JSON.parse(odd)).toMatchObject({ message: 'a\u2028b\u2029c\u0085d' })
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      message: 'Hello',
      runId: 'a\nb',
      size: '10',
    })
    expect(lines[0]).toMatch(/^[^\n]+\n$/)
  })

  it('jsonLogger redacts secrets in messages, fields, errors and causes', () => {
    const { logger, lines } = recording()
    const cause = new Error(`cause ${SECRET}`)
    const error = new TuttiError('INTERNAL', `error ${SECRET}`, { cause })
    logger.error(`message ${SECRET}`, { error, deep: [{ text: `field ${SECRET}` }] })
    expect(lines.join()).not.toContain('sk-live')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'message [redacted]',
      error: {
        code: 'INTERNAL',
        message: 'error [redacted]',
        stack: expect.stringContaining('[redacted]'),
        cause: { message: 'cause [redacted]' },
      },
      deep: [{ text: 'field [redacted]' }],
    })
  })

  it('jsonLogger replaces fields that cannot be serialized', () => {
    const { logger, lines } = recording()
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const thrower = {
      toJSON() {
        throw new Error('no')
      },
    }
    logger.warn('Round', { circle })
    logger.warn('Thrown', { thrower })
    const fields = 'not serializable as JSON'
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', message: 'Round', fields },
      { level: 'warn', message: 'Thrown', fields },
    ])
  })
})

describe('atLevel', () => {
  it.each(LOG_LEVELS.map((level, index) => [level, LOG_LEVELS.slice(index)] as const))(
    'atLevel writes lines from level %s on: %j',
    (level, written) => {
      const { logger, lines } = recording()
      const log = atLevel(logger, level)
      for (const each of LOG_LEVELS) log[each](`It is ${each}`, { runId: 'a' })
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(
        written.map((each) => ({ level: each, message: `It is ${each}`, runId: 'a' })),
      )
    },
  )
})

function recording() {
  const lines: string[] = []
  return { lines, logger: jsonLogger((line) => lines.push(line), { redactor: redactor([SECRET]) }) }
}
