/** Tests `tutti run` and `tutti watch` on a terminal. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createClient } from '@tutti/client'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openClientServer } from './client-server.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'
import { KEYS, openShell, openTerminal, type ProgramTerminal } from './terminal.ts'

const BACH = 'composer=Bach'

// oxlint-disable-next-line no-control-regex -- the test searches for an escape code
const COLOR = /\x1b\[3\dm/

/** Begins each drawing for another size. */
const ERASE_BELOW = '\x1b[J'

const SHOW_CURSOR = '\x1b[?25h'

/** Returns the text on the screen. */
function readScreen(terminal: ProgramTerminal): string {
  return terminal.screen().join('\n')
}

describe('the live view', () => {
  it('The live view shows the progress over a restart of the server, and leaves a summary and the result', async () => {
    using data = temporaryDirectory()
    const environment = { TUTTI_DATA_DIR: data.path }
    const first = await ServerProcess.start(environment)
    const { port } = new URL(first.url)
    await using terminal = openTerminal(['run', 'topic=AI safety'], {
      env: { TUTTI_URL: first.url },
    })
    await terminal.until(/● researcher +0:\d\d {2}turn \d/)
    expect(readScreen(terminal)).toMatch(
      /^(?:RUNNING) {2}0:\d\d {2}briefing.* {2}run-[0-9a-z]{16}\n● researcher[^]*\n○ writer +waiting for researcher\nCtrl-C to cancel or leave$/,
    )
    await terminal.until(/✔ read_article {2}\d+ ms {2}\{"id":"[^]*\n {2}│ - AI safety asks/)
    await terminal.until(
      /✔ researcher +\d\.\d s {2}3 turns, 4 tool calls, [\d,]+ tokens\n● writer +0:\d\d {2}turn 2/,
    )
    await first.end('SIGKILL')
    await terminal.until(/\nConnection lost, attempt \d+ in [\d.]+ m?s: .*\nCtrl-C/)
    await using _second = await ServerProcess.start({ ...environment, PORT: port })
    expect(await terminal.ended()).toBe(0)
    const lines = terminal.screen()
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^✔ researcher +\d\.\d s {2}3 turns, 4 tool calls, [\d,]+ tokens$/),
      expect.stringMatching(/^✔ writer +\d+\.\d s {2}2 turns, 1 tool call, [\d,]+ tokens$/),
      expect.stringMatching(
        /^run-[0-9a-z]{16} COMPLETED in \d+\.\d s, [\d,]+ tokens, 5 tool calls$/,
      ),
      '',
      '# AI safety: a brief',
    ])
    expect(terminal.isCursorShown).toBe(true)
    expect(terminal.written).toMatch(COLOR)
  })

  it('The live view fits into a window of 40×10 and of every later size, and uses no colors with NO_COLOR', async () => {
    await using api = await openClientServer()
    const env = { TUTTI_URL: api.url, NO_COLOR: '1' }
    await using terminal = openTerminal(['run', 'band', BACH], { env, cols: 40, rows: 10 })
    await terminal.until(/→ wait/)
    const narrow = terminal.screen()
    expect(narrow).toHaveLength(5)
    expect(narrow[0]).toMatch(/^RUNNING {2}0:\d\d {2}band .*…$/)
    for (const [cols, rows] of [
      [100, 30],
      [30, 14],
      [60, 12],
    ] as const) {
      // Between two changes of the time, which would be written for the size before.
      const [last] = terminal.screen()
      await terminal.until(([first]) => first !== last)
      const { length } = terminal.written
      terminal.resize(cols, rows)
      await terminal.until(
        (lines) =>
          terminal.written.includes(ERASE_BELOW, length) &&
          lines.length === 5 &&
          (lines.at(-1) ?? '').startsWith('Ctrl-C'),
      )
      // No line of the view in another size is left.
      expect(terminal.history().filter((line) => line.startsWith('RUNNING'))).toHaveLength(1)
    }
    api.play()
    expect(await terminal.ended()).toBe(0)
    expect(terminal.written).not.toMatch(COLOR)
    expect(terminal.history().filter((line) => line.includes('Ctrl-C'))).toEqual([])
    expect(terminal.screen().slice(0, 2)).toEqual([
      expect.stringMatching(/^✔ tune/),
      expect.stringMatching(/^✔ play/),
    ])
  })

  it('The live view is replaced by plain lines with --plain, TERM=dumb and CI, and by no output with --quiet', async () => {
    await using api = await openClientServer()
    api.play()
    const TUTTI_URL = api.url
    for (const [words, env] of [
      [['--plain'], {}],
      [[], { TERM: 'dumb' }],
      [[], { CI: 'true' }],
    ] as const) {
      await using terminal = openTerminal(['run', 'soloist', BACH, ...words], {
        env: { TUTTI_URL, ...env },
      })
      expect(await terminal.ended()).toBe(0)
      expect(readScreen(terminal)).toContain('[0:00] tune: started')
      expect(terminal.written).not.toContain('\x1b')
    }
    await using quiet = openTerminal(['run', 'soloist', BACH, '-q'], { env: { TUTTI_URL } })
    expect(await quiet.ended()).toBe(0)
    expect(quiet.written).toBe('All instruments are in tune, says small\r\n')
  })

  it('The live view is suspended as a job of the shell, and continues', async () => {
    await using api = await openClientServer()
    await using terminal = openShell({ env: { TUTTI_URL: api.url } })
    terminal.write(`tutti run band ${BACH}\r`)
    await terminal.until(/→ wait/)
    terminal.write(KEYS.ctrlZ)
    const stopped = await terminal.until(/(?:Stopped|Suspended)/)
    expect(stopped.join('\n')).not.toContain('→ wait')
    expect(terminal.isCursorShown).toBe(true)
    terminal.write('fg\r')
    await terminal.until(/→ wait/)
    // Keys are read as before.
    terminal.write(KEYS.ctrlC)
    await terminal.until('Cancel the run?')
    terminal.write('n')
    await terminal.until('\nCtrl-C to cancel')
    api.play()
    await terminal.until('It was played in full')
    terminal.write('exit $?\r')
    expect(await terminal.ended()).toBe(0)
  })

  it('The live view continues at once when no shell could continue it', async () => {
    await using api = await openClientServer()
    await using terminal = openTerminal(['run', 'band', BACH], { env: { TUTTI_URL: api.url } })
    await terminal.until(/→ wait/)
    terminal.write(KEYS.ctrlZ)
    await terminal.until(() => terminal.written.includes(SHOW_CURSOR))
    await terminal.until(/→ wait[^]*\nCtrl-C to cancel/)
    terminal.write(KEYS.ctrlC)
    await terminal.until('Cancel the run?')
    terminal.write('n')
    api.play()
    expect(await terminal.ended()).toBe(0)
  })
})

describe('Ctrl-C', () => {
  it('Ctrl-C asks in `tutti run`: n continues, y cancels and waits until the run is over', async () => {
    await using api = await openClientServer()
    await using terminal = openTerminal(['run', 'band', BACH], { env: { TUTTI_URL: api.url } })
    await terminal.until(/→ wait/)
    // Before the question, the first "y" is ignored.
    terminal.write(`y${KEYS.ctrlC}`)
    await terminal.until('\nCancel the run?  [y]es  [n]o, continue  [l]eave it running')
    terminal.write('n')
    await terminal.until('\nCtrl-C to cancel')
    terminal.signal('SIGINT')
    await terminal.until('Cancel the run?')
    terminal.write('y')
    expect(await terminal.ended()).toBe(5)
    expect(readScreen(terminal)).toMatch(/✔ tune .*\n◼ play .*cancelled\nrun-\S+ CANCELLED in /)
  })

  it('Ctrl-C lets the run continue when pressed twice or answered with l', async () => {
    await using api = await openClientServer()
    const env = { TUTTI_URL: api.url }
    await using terminal = openTerminal(['run', 'band', BACH], { env })
    await using other = openTerminal(['run', 'band', BACH], { env })
    for (const [one, key] of [
      [terminal, KEYS.ctrlC],
      [other, 'l'],
    ] as const) {
      await one.until(/→ wait/)
      one.write(KEYS.ctrlC)
      await one.until('Cancel the run?')
      one.write(key)
      expect(await one.ended()).toBe(130)
      expect(readScreen(one)).toMatch(/^run-\S+ continues\. To follow it: tutti watch run-\S+$/)
      expect(one.isCursorShown).toBe(true)
    }
    const { runs } = await createClient({ baseUrl: api.url }).runs.list()
    expect(runs.map(({ status }) => status)).toEqual(['RUNNING', 'RUNNING'])
  })

  it('Ctrl-C leaves `tutti watch` at once', async () => {
    await using api = await openClientServer()
    const { runs } = createClient({ baseUrl: api.url })
    const { runId } = await runs.submit({ inputs: { composer: 'Bach' } })
    await using terminal = openTerminal(['watch', runId], { env: { TUTTI_URL: api.url } })
    await terminal.until(/→ wait[^]*\nCtrl-C to leave; the run continues/)
    terminal.write(KEYS.ctrlC)
    expect(await terminal.ended()).toBe(130)
    api.play()
    await runs.result(runId)
    await using over = openTerminal(['watch', runId], { env: { TUTTI_URL: api.url } })
    expect(await over.ended()).toBe(0)
    expect(readScreen(over)).toMatch(
      /^✔ tune[^]*COMPLETED in [^]*\n\nIt was played in full, says small$/,
    )
  })
})

/** Returns an ensemble whose tool requires approval and returns its input. */
function soloist() {
  const play = defineTool({
    name: 'play',
    description: 'Plays',
    input: Type.Object({ bars: Type.Integer() }),
    requireApproval: true,
    execute: ({ bars }) => `Played ${bars} bars`,
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool'
      ? last.content
      : { toolCalls: [{ name: 'play', arguments: { bars: 2 } }] }
  })
  const solo = task({ name: 'solo', description: 'Play {composer}', tools: [play] })
  return ensemble({ name: 'asking', tasks: [solo], model })
}

describe('a review', () => {
  it('A review on a terminal can be put off, asked about again, edited in the editor and decided', async () => {
    using home = temporaryDirectory()
    const EDITOR = join(home.path, 'editor')
    writeFileSync(EDITOR, '#!/bin/sh\nprintf "Bravo, %s" "$(cat "$1")" > "$1"\n')
    chmodSync(EDITOR, 0o700)
    await using api = await openClientServer()
    const env = { TUTTI_URL: api.url, EDITOR }
    await using terminal = openTerminal(['run', 'panel', BACH], { env })
    await terminal.until(/Output of decide[^]*in tune, says small[^]*Good\?[^]*● Approve/)
    terminal.write(KEYS.escape)
    await terminal.until('Review, press r to decide: Good?')
    terminal.write('r')
    await terminal.until(/● Approve/)
    terminal.write(KEYS.down)
    await terminal.until(/● Edit the output/)
    terminal.write(KEYS.enter)
    expect(await terminal.ended()).toBe(0)
    expect(readScreen(terminal)).toMatch(
      /COMPLETED in .*\n\nBravo, All instruments are in tune, says small$/,
    )
  })

  it('A review on a terminal opens the editor again with the text that the server rejected', async () => {
    using home = temporaryDirectory()
    const EDITOR = join(home.path, 'editor')
    // The server rejects the first edit, which does not match the tool; the second edit starts from its text.
    writeFileSync(
      EDITOR,
      '#!/bin/sh\nif grep -q loud "$1"; then sed -i s/loud/4/ "$1"; else printf \'{"bars":"loud"}\' > "$1"; fi\n',
    )
    chmodSync(EDITOR, 0o700)
    await using api = await openClientServer({ more: [soloist()] })
    const env = { TUTTI_URL: api.url, EDITOR }
    await using terminal = openTerminal(['run', 'asking', BACH], { env })
    await terminal.until(/● Approve/)
    terminal.write(KEYS.down)
    await terminal.until(/● Edit the input/)
    terminal.write(KEYS.enter)
    await terminal.until(/bars: [^]*Edit again, starting from your text\?/)
    terminal.write(KEYS.enter)
    expect(await terminal.ended()).toBe(0)
    expect(readScreen(terminal)).toMatch(/COMPLETED in [^]*\n\nPlayed 4 bars$/)
  })

  it('A review on a terminal is no longer asked about when another reviewer has decided; a rejection needs feedback', async () => {
    await using api = await openClientServer()
    const { reviews } = createClient({ baseUrl: api.url })
    await using terminal = openTerminal(['run', 'panel', BACH], { env: { TUTTI_URL: api.url } })
    await terminal.until(/● Approve/)
    terminal.write(KEYS.down + KEYS.down)
    await terminal.until(/● Reject/)
    terminal.write(KEYS.enter)
    await terminal.until('what should be different?')
    terminal.write(KEYS.enter)
    await terminal.until('Feedback is required')
    terminal.write(`Louder${KEYS.enter}`)
    await terminal.until(
      (lines) =>
        lines.findLastIndex((line) => line.includes('● Approve')) >
        lines.findLastIndex((line) => line.includes('Louder')),
    )
    const [open] = (await reviews.list()).reviews
    await reviews.decide(open?.reviewId ?? '', { decision: 'CONTINUE' })
    expect(await terminal.ended()).toBe(0)
    const { runs } = createClient({ baseUrl: api.url })
    const [run] = (await runs.list()).runs
    const events: string[] = []
    for await (const event of runs.events(run?.runId ?? '', { events: ['review_decided'] })) {
      events.push(`${event.decision} ${event.feedback}`)
    }
    expect(events).toEqual(['REJECT Louder', 'CONTINUE undefined'])
  })
})
