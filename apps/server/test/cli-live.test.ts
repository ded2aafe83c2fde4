/** Tests the pure parts of the live view: the lines of a run, and how they are drawn on a terminal. */
import {
  emptyRunState,
  runStateAfter,
  RunStateFold,
  type RunEvent,
  type RunState,
} from '@tutti/protocol'
import xterm from '@xterm/headless'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'

import { eventOf, startOfRun, WRITER } from '../../../packages/protocol/test/run-events.ts'
import {
  formatTerminalCount,
  formatDollars,
  formatTerminalDuration,
  formatStopwatch,
} from '../src/cli/live/format-values.ts'
import { TerminalFrame } from '../src/cli/live/frame.ts'
import { paint, lineText, type PaintedLine } from '../src/terminal/line.ts'
import { marksFor } from '../src/cli/live/marks.ts'
import { plainLines } from '../src/cli/live/plain-lines.ts'
import { runLines, type ViewContext } from '../src/cli/live/run-lines.ts'
import { summaryLines } from '../src/cli/live/summary-lines.ts'
import {
  cutToWidth,
  firstLines,
  lastLines,
  toSingleLine,
  padToWidth,
  toTerminalText,
  measureWidth,
} from '../src/terminal/text-width.ts'
import { runCommand } from '../src/cli/run-command.ts'

import type { CommandIo } from '../src/terminal/command-io.ts'

const CONTEXT: ViewContext = {
  runId: 'run-1',
  now: Date.parse('2025-03-15T10:30:07Z'),
  columns: 80,
  rows: 24,
  marks: marksFor({}, 'linux'),
  notes: [[{ text: 'the hint' }]],
}

/** Returns the view after the start of a run and these events. */
function viewAfter(
  events: readonly RunEvent[],
  context: Partial<ViewContext> = {},
): readonly string[] {
  return renderView(runStateAfter([...startOfRun(), ...events]), context)
}

function renderView(state: RunState, context: Partial<ViewContext> = {}): readonly string[] {
  return runLines(state, { ...CONTEXT, ...context }).map((line) => lineText(line).trimEnd())
}

describe('text on a terminal', () => {
  it.each([
    ['abc', 3],
    ['日本語', 6],
    ['é', 1],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['✅ ok', 5],
    ['●✔', 2],
    ['한글', 4],
    ['\u200B', 0],
  ])('The text width of %j is %i columns', (text, width) => {
    expect(measureWidth(text)).toBe(width)
    expect(measureWidth(padToWidth(text, 8))).toBe(8)
  })

  it('Truncated text ends between graphemes and never exceeds the width', () => {
    expect(cutToWidth('abcdef', 6)).toBe('abcdef')
    expect(cutToWidth('abcdef', 5)).toBe('abcd…')
    expect(cutToWidth('日本語', 4)).toBe('日…')
    expect(cutToWidth('日本語', 0)).toBe('')
    for (let width = 0; width < 12; width += 1) {
      expect(measureWidth(cutToWidth('a日👩‍👩‍👧e\u0301本', width))).toBeLessThanOrEqual(width)
    }
  })

  it('Terminal text contains nothing that a terminal would act on', () => {
    expect(toTerminalText('a\x1b[2Jb\x1b]0;title\x07c\x9b31md\u202Ee\r\nf\tg\x00')).toBe(
      'abcde\nf  g',
    )
    expect(toSingleLine('  a\n\n b\t\x1b[31mc ')).toBe('a b c')
  })

  it('A long text is wrapped at spaces and limited to its last or first lines', () => {
    expect(lastLines('one two three four\nfive\n', 9, 3)).toEqual(['three', 'four', 'five'])
    expect(lastLines('abcdefghij', 4, 9)).toEqual(['abcd', 'efgh', 'ij'])
    expect(lastLines('日本語日本', 5, 2)).toEqual(['語日', '本'])
    expect(lastLines('x'.repeat(100_000), 10, 2)).toEqual([
      'x'.repeat(10),
      expect.stringMatching(/^x+$/),
    ])
    expect(firstLines('Cancel the run? yes no', 11, 2)).toEqual(['Cancel the', 'run? yes no'])
    expect(firstLines('a b c d e f g', 3, 2)).toEqual(['a b', 'c …'])
  })

  it('Durations, dollars and counts are formatted for a terminal', () => {
    expect([340, 4_249, 59_960, 185_000, 7_800_000].map(formatTerminalDuration)).toEqual([
      '340 ms',
      '4.2 s',
      '1m 00s',
      '3m 05s',
      '2h 10m',
    ])
    expect([-5, 7_900, 760_000, 3_723_000].map(formatStopwatch)).toEqual([
      '0:00',
      '0:07',
      '12:40',
      '1:02:03',
    ])
    expect([0, 0.000_012_3, 0.012_3, 0.5, 12.345].map(formatDollars)).toEqual([
      '$0.00',
      '$0.000012',
      '$0.012',
      '$0.50',
      '$12.35',
    ])
    expect([formatTerminalCount(1, 'token'), formatTerminalCount(2_314, 'token')]).toEqual([
      '1 token',
      '2,314 tokens',
    ])
  })

  it('A line is colored by its styles after it is truncated, with symbols selected by terminal', () => {
    const line = [{ text: 'ab', style: 'red' as const }, { text: 'cdef' }]
    expect(paint(line, 4, true)).toEqual({ text: '\x1b[31mab\x1b[39mc…', width: 4 })
    expect(paint(line, 9, false)).toEqual({ text: 'abcdef', width: 6 })
    expect(marksFor({ TERM: 'linux' }, 'linux').status.COMPLETED).toBe('+')
    expect([{}, { WT_SESSION: '1' }].map((env) => marksFor(env, 'win32').waiting)).toEqual([
      '?',
      '?',
    ])
    expect([{}, { WT_SESSION: '1' }].map((env) => marksFor(env, 'win32').status.FAILED)).toEqual([
      'x',
      '✖',
    ])
  })
})

describe('the lines of a run', () => {
  const answered = [eventOf('llm_iteration_started'), eventOf('llm_iteration_completed')]

  it('The lines of a run exist before the first event', () => {
    expect(renderView(emptyRunState())).toEqual(['ACCEPTED    run-1', 'the hint'])
  })

  it('The lines of a run show the calls of the running task, then the text of its model', () => {
    const token = eventOf('token', { iterationIndex: 1, token: 'First line\nsecond\x1b[2J line' })
    const next = eventOf('llm_iteration_started', { iterationIndex: 1 })
    expect(viewAfter([...answered, eventOf('tool_called'), next, token])).toEqual([
      expect.stringMatching(/^RUNNING {2}0:\d\d {2}\S.* {2}run-1$/),
      expect.stringMatching(/^● researcher +0:\d\d {2}turn 2, 1 tool call$/),
      expect.stringMatching(/^ {2}→ web_search {2}\{"query"/),
      expect.stringMatching(/^ {2}✔ web_search {2}1\.2 s {2}\{"query"/),
      '  │ First line',
      '  │ second line',
      expect.stringMatching(/^○ writer +waiting for researcher$/),
      'the hint',
    ])
  })

  it('The lines of a run show the last line of the reasoning until the text begins', () => {
    const thought = eventOf('reasoning', { iterationIndex: 0, text: 'First\nthen this' })
    const begun = [eventOf('llm_iteration_started', { iterationIndex: 0 }), thought]
    expect(viewAfter(begun)).toContain('  │ then this')
    expect(viewAfter(begun)).not.toContain('  │ First')
    const view = viewAfter([...begun, eventOf('token', { iterationIndex: 0, token: 'Answer' })])
    expect(view).toContain('  │ Answer')
    expect(view).not.toContain('  │ then this')
  })

  it('The lines of a run show failed calls, attempts, reviews, skipped tasks and delegated tasks', () => {
    const failed = eventOf('llm_iteration_failed', {
      retryInMs: 2_000,
      nextModel: undefined,
      reason: 'Too\nmany',
    })
    expect(viewAfter([eventOf('llm_iteration_started'), failed])).toContainEqual(
      expect.stringMatching(/^ {2}\S+: Too many; retrying in 2\.0 s$/),
    )
    const broken = eventOf('tool_called', { outcome: 'FAILURE', toolResult: 'Error: no net' })
    expect(viewAfter([...answered, broken])).toContainEqual(
      expect.stringMatching(/^ {2}✖ \S+ {2}Error: no net$/),
    )
    const again = eventOf('task_attempt_failed', { willRetry: true, reason: 'Bad' })
    expect(viewAfter([again])).toContainEqual(
      expect.stringMatching(/^✖ researcher .*retrying: Bad$/),
    )
    expect(viewAfter([again, eventOf('task_started', { attempt: 2 })])).toContainEqual(
      expect.stringMatching(/attempt 2, starting$/),
    )
    expect(viewAfter([eventOf('review_requested')])).toContainEqual(
      expect.stringMatching(/^\? researcher .*waiting for review$/),
    )
    const skipped = eventOf('task_skipped', { ...WRITER, reason: 'No notes' })
    expect(viewAfter([skipped])).toContainEqual(expect.stringMatching(/^– writer +No notes$/))
    expect(viewAfter([eventOf('delegation_started')])).toContainEqual(
      expect.stringMatching(/^○ researcher\/1/),
    )
  })

  it('[SERVER-V1] The lines of a run fit into every window, and include the first line and the last note', () => {
    const tokens = Array.from({ length: 40 }, (_, n) =>
      eventOf('token', { iterationIndex: 0, token: `日本 ${n}\n` }),
    )
    const state = manyTasks(
      runStateAfter([...startOfRun(), eventOf('llm_iteration_started'), ...tokens]),
    )
    for (let columns = 1; columns <= 120; columns += 7) {
      for (let rows = 2; rows <= 60; rows += 3) {
        const lines = runLines(state, { ...CONTEXT, columns, rows })
        expect(lines.length).toBeLessThanOrEqual(rows - 1)
        for (const line of lines) {
          expect(measureWidth(paint(line, columns, false).text)).toBeLessThanOrEqual(columns)
        }
        expect(lineText(lines[0] ?? [])).toMatch(/^RUNNING/)
        if (rows > 2) expect(lines.at(-1)).toEqual([{ text: 'the hint' }])
      }
    }
  })

  it('[SERVER-V2] The lines of a run show the running task when not all tasks fit, and count the others', () => {
    const state = manyTasks(runStateAfter(startOfRun()))
    const lines = renderView(state, { rows: 7 })
    expect(lines).toHaveLength(6)
    expect(lines[1]).toMatch(/^● researcher/)
    expect(lines[4]).toBe('  and 19 more tasks: 19 pending')
  })

  it('The lines of a run end with a short summary that has the reason of a failure', () => {
    const end = eventOf('run_result', {
      status: 'FAILED',
      error: 'The model\nfell over',
      code: 'MODEL_FAILED',
      durationMs: 4_200,
    })
    const state = runStateAfter([...startOfRun(), eventOf('task_completed'), end])
    const lines = summaryLines(state, CONTEXT).map(lineText)
    expect(lines).toEqual([
      expect.stringMatching(/^✔ researcher +\S+ m?s/),
      expect.stringMatching(/^. writer/),
      expect.stringMatching(/^run-1 FAILED in 4\.2 s/),
      'The model fell over (MODEL_FAILED)',
    ])
    const many = summaryLines(manyTasks(state), CONTEXT).map(lineText)
    expect(many).toHaveLength(23)
    expect(many[20]).toBe('  and 2 more: tutti runs run-1')
  })
})

describe('plain lines', () => {
  it('Plain lines show each event once, without control characters, with the time of the log', () => {
    const events: readonly RunEvent[] = [
      ...startOfRun(),
      eventOf('tool_called', { toolArguments: '{"a":\n"\x1b[2J"}' }),
      eventOf('llm_iteration_failed'),
      eventOf('review_requested', {
        prompt: null,
        kind: 'TOOL_CALL',
        timing: 'DURING_EXECUTION',
        toolName: 'pay',
      }),
      eventOf('review_timed_out'),
      eventOf('review_decided', { feedback: 'Too\ndear', decidedBy: 'ann' }),
      eventOf('task_attempt_failed', { code: 'REVIEW_REJECTED', reason: 'No', willRetry: true }),
      eventOf('run_cancelling', { cause: 'CALLER', actor: 'bob' }),
      eventOf('run_cancelling', { cause: 'DEADLINE', actor: 'bob' }),
      eventOf('model_switched', { taskName: 'writer' }),
      eventOf('run_resumed'),
      eventOf('token'),
    ]
    const lines = formatPlainLines(events)
    for (const line of lines) {
      expect(line).toMatch(/^\[\d+:\d\d\] \S/)
      expect(line).toBe(toTerminalText(line))
      expect(line).not.toContain('\n')
    }
    const text = lines.join('\n')
    expect(text).toContain('researcher: waiting for review: Call "pay"?\n')
    expect(text).toMatch(/researcher: decide with: tutti review \S+\n/)
    expect(text).toMatch(/researcher: reviewed by ann, [A-Z_]+: Too dear\n/)
    expect(text).toContain('rejected by the reviewer; repeating it with the feedback\n')
    expect(text).not.toContain('failed after')
    expect(text).toContain('] cancel requested by bob\n')
    expect(text).toContain('] cancelled at the deadline of its caller bob\n')
    expect(text).toMatch(/model switched to \S+ for writer\n/)
    expect(lines.filter((line) => line.includes('review timed out'))).toHaveLength(1)
    expect(text).not.toContain('token')
  })
})

describe('a frame', () => {
  it('[SERVER-F1] A frame of the live view writes only the lines that have changed', () => {
    const frame = new TerminalFrame()
    frame.draw(lines('one', 'two'), 20)
    expect(frame.draw(lines('one', 'two'), 20)).toBe('')
    const update = frame.draw(lines('one', 'TWO'), 20)
    expect(update).toContain('TWO')
    expect(update).not.toContain('one')
  })

  it('A frame of the live view stays below the existing content when it grows, shrinks and is cleared', async () => {
    const { write, screen } = terminal(20, 8)
    const frame = new TerminalFrame()
    await write('$ tutti run\r\n')
    await write(frame.draw(lines('one', 'two', 'three'), 20))
    await write(frame.draw(lines('ONE', 'two'), 20))
    expect(screen()).toEqual(['$ tutti run', 'ONE', 'two'])
    await write(frame.draw(lines('ONE', 'two', 'three', 'four'), 20))
    expect(screen()).toEqual(['$ tutti run', 'ONE', 'two', 'three', 'four'])
    await write(frame.clear(20))
    expect(screen()).toEqual(['$ tutti run'])
  })

  it('[SERVER-F2] A frame of the live view leaves no old lines behind when the window becomes narrower or wider', async () => {
    const { write, screen, resize } = terminal(20, 10)
    const frame = new TerminalFrame()
    await write('$ tutti\r\n')
    await write(frame.draw(lines('a'.repeat(20), 'bb', 'c'.repeat(15)), 20))
    for (const columns of [9, 30, 12]) {
      resize(columns)
      const now = lines('a'.repeat(columns), 'bb', 'c'.repeat(8))
      await write(frame.draw(now, columns))
      expect(screen()).toEqual(['$ tutti', ...now.map(({ text }) => text)])
    }
  })
})

describe('an invalid command line of tutti run', () => {
  it.each([
    [['band', 'Bach'], 'must be key=value, got "Bach"'],
    [['band', '--tag', '=x'], '--tag must be key=value, got "=x"'],
    [['band', '--override', 'tune.mood=good'], 'Fields: description, expectedOutput, model'],
    [['band', '--override', 'tune.maxIterations=0'], 'must be a whole number from 1, got "0"'],
    [['band', '--inputs', '{'], '--inputs must be JSON'],
    [['band', '--inputs', '[1]'], '--inputs must be a JSON object'],
    [['band', '--tasks', '@nowhere.json'], 'Cannot read "nowhere.json"'],
    [
      ['band', '--inputs', '-', '--request', '-'],
      '--request and --inputs cannot both read standard input',
    ],
    [['band', '--workflow', 'RANDOM'], 'Allowed choices are SEQUENTIAL, PARALLEL, HIERARCHICAL'],
    [['band', '--json', '--events'], '--json and --events cannot be combined'],
    [['band', '--max-reconnects', 'x'], 'must be a whole number'],
  ])('An invalid command line of `tutti run` is rejected: %j', async (args, message) => {
    const { exit, stdout, stderr } = await runOffline(['run', ...args])
    expect([exit, stdout, stderr]).toEqual(['USAGE', '', expect.stringContaining(message)])
  })
})

/** Runs a command that fails before it calls a server. */
async function runOffline(args: readonly string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end('{}')
  const io: CommandIo = {
    stdin,
    stdout,
    stderr,
    cwd: import.meta.dirname,
    variables: { TUTTI_URL: 'http://127.0.0.1:1' },
    onSignal: () => () => {},
    outliveReaders() {},
  }
  const exit = await runCommand(args, io)
  const [out, err] = [stdout, stderr].map((stream) => String(stream.read() ?? ''))
  return { exit, stdout: out, stderr: err }
}

function manyTasks(state: RunState): RunState {
  const [first, second] = state.tasks
  if (first === undefined || second === undefined) throw new Error('Expected a run with two tasks')
  const more = Array.from({ length: 20 }, (_, n) => ({
    ...second,
    name: `task-${n}`,
    index: n + 3,
  }))
  return { ...state, tasks: [first, second, ...more] }
}

function formatPlainLines(events: readonly RunEvent[]): readonly string[] {
  const run = new RunStateFold()
  return events.flatMap((event, seq) => {
    run.take(event)
    return plainLines({ ...event, runId: 'run-1', seq, id: `run-1:${seq}` }, run)
  })
}

function lines(...texts: readonly string[]): readonly PaintedLine[] {
  return texts.map((text) => ({ text, width: measureWidth(text) }))
}

/** Opens an emulated terminal. */
function terminal(cols: number, rows: number) {
  const screen = new xterm.Terminal({ cols, rows, allowProposedApi: true })
  const readRows = (): readonly string[] => {
    const { active } = screen.buffer
    const all = Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? '',
    )
    return all.slice(0, all.findLastIndex((row) => row !== '') + 1)
  }
  return {
    write: async (text: string) =>
      new Promise<void>((resolve) => {
        screen.write(text, resolve)
      }),
    resize: (columns: number) => screen.resize(columns, rows),
    screen: readRows,
  }
}
