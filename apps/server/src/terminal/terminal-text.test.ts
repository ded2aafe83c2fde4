/** Tests how untrusted text reaches a terminal. */
import { describe, expect, it } from 'vitest'

import { toSingleLine, toTerminalText } from './text-width.ts'
import { plainLogger } from '../log/console-log.ts'
import { toTerminalJson, printJson, printLines, printText, printMessage } from './print.ts'

import type { CommandIo } from './command-io.ts'

/** Every kind of text that a terminal acts on, around the word `fine`. */
const HOSTILE = [
  '\u001B[2J\u001B[1;31m',
  '\u001B]0;title\u0007\u001B]52;c;cHduZWQ=\u001B\\',
  '\u001BP1$r\u001B\\\u001B_Gpayload\u001B\\\u001B^private\u001B\\\u001BXstring\u001B\\',
  '\u009B2J\u009D0;title\u009C\u0090dcs\u009C\u009Fapc\u009C',
  'fi\b\u007F\u0000ne',
  '\u202E\u2066\u001Bc\u001B_unterminated',
].join('')

// oxlint-disable-next-line no-control-regex -- control characters are intended
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

function terminal(isTTY: boolean) {
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    isTTY,
    write: (text: string) => {
      written[name] += text
      return true
    },
  })
  // NOTE: printing uses only the streams and the variables.
  const io = { stdout: stream('out'), stderr: stream('err'), variables: {} } as unknown as CommandIo
  return { io, written }
}

describe('untrusted text', () => {
  it('Untrusted text is stripped of everything that a terminal acts on, including the content of control strings', () => {
    expect(toTerminalText(HOSTILE)).toBe('fine_unterminated')
    expect(toTerminalText('a\r\nb\rc\td\ne')).toBe('a\nb\nc  d\ne')
    expect(toSingleLine('a\rb\u0085c\n d')).toBe('a bc d')
  })

  it('Untrusted text is harmless on a terminal, however it is printed', () => {
    const { io, written } = terminal(true)
    printText(HOSTILE, io)
    printLines([[{ text: HOSTILE }]], io)
    printMessage(HOSTILE, io)
    expect(written).toEqual({
      out: 'fine_unterminated\nfine_unterminated\n',
      err: 'fine_unterminated\n',
    })
  })

  it('Untrusted text is written unchanged to a file or a pipe', () => {
    const { io, written } = terminal(false)
    printText(`${HOSTILE}\n`, io)
    expect(written.out).toBe(`${HOSTILE}\n`)
  })

  it('Untrusted text is escaped in JSON, which parses to the same value', () => {
    const { io, written } = terminal(true)
    printJson({ [HOSTILE]: HOSTILE }, io)
    expect(written.out).not.toMatch(CONTROL)
    expect(JSON.parse(written.out)).toEqual({ [HOSTILE]: HOSTILE })
    expect(toTerminalJson(['\u009B', '\u007F', 'ü', '\u202E'])).toBe(
      String.raw`["\u009b","\u007f","ü","\u202e"]`,
    )
  })

  it('Untrusted text cannot move the cursor or add lines in the log of `tutti dev`', () => {
    const lines: string[] = []
    const redactor = { text: (text: string) => text }
    const now = () => new Date(2026, 0, 2, 3, 4, 5)
    const logger = plainLogger((line) => lines.push(line), { colors: false, redactor, now })
    logger.info(`a\r${HOSTILE}\nb`, { runId: HOSTILE, field: HOSTILE, error: new Error(HOSTILE) })
    const [line = ''] = lines
    expect(line).not.toMatch(CONTROL)
    expect(line.split('\n')).toEqual([
      expect.stringContaining('info  a fine_unterminated b'),
      '  fine_unterminated',
      '',
    ])
  })
})
