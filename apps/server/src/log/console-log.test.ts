import { TuttiError } from '@tutti/core'
import { expect, it } from 'vitest'

import { plainLogger } from './console-log.ts'

function logged(colors = false) {
  const lines: string[] = []
  const redactor = { text: (text: string) => text.replaceAll('hush-hush', '[redacted]') }
  const now = () => new Date(2026, 0, 2, 3, 4, 5)
  return { lines, logger: plainLogger((line) => lines.push(line), { colors, redactor, now }) }
}

it('The console log writes time, level, message, run and fields in one line, without secrets and escape codes', () => {
  const { lines, logger } = logged()
  logger.debug('Asked')
  logger.info('Begun', { runId: 'run-1', count: 2, where: 'over there', nothing: undefined })
  logger.warn('A key: hush-hush\x1b[2J', { key: 'hush-hush' })
  expect(lines).toEqual([
    '03:04:05 debug Asked\n',
    '03:04:05 info  Begun run-1 count=2 where="over there"\n',
    '03:04:05 warn  A key: [redacted] key=[redacted]\n',
  ])
})

it('The console log writes an error below the line: with its message if it is expected, otherwise with its stack', () => {
  const { lines, logger } = logged()
  const cause = new Error('The disk is hush-hush')
  logger.error('Lost', { error: new TuttiError('STORE_UNAVAILABLE', 'No store', { cause }) })
  logger.error('Broken', { error: new TypeError('Oops') })
  logger.warn('Odd', { error: 'words', circle: circle() })
  expect(lines[0]).toBe('03:04:05 error Lost\n  No store\n  caused by The disk is [redacted]\n')
  expect(lines[1]).toMatch(
    /^03:04:05 error Broken\n {2}TypeError: Oops\n {6}at .*console-log\.test/,
  )
  expect(lines[2]).toBe('03:04:05 warn  Odd circle=(not serializable)\n  words\n')
})

it('The console log colors only the time and the level', () => {
  const { lines, logger } = logged(true)
  logger.error('Lost')
  expect(lines).toEqual(['\x1b[2m03:04:05\x1b[22m \x1b[31merror\x1b[39m Lost\n'])
})

function circle(): object {
  const made: { self?: object } = {}
  made.self = made
  return made
}
