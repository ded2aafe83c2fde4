import { TextRestorer } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { RepeatOmitter } from './omit-repeats.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { StreamedRunEvent } from '@tutti/protocol/internal'

const AT = '2026-01-01T00:00:00.000Z'

/** Maximum size of a stream relative to one copy of its answer. */
const MAX_RATIO = 1.1

describe('RepeatOmitter', () => {
  it('[PROTO-R1] [PROTO-R2] A reader restores every event of generated runs, from any position and with any types', () => {
    let omitted = 0
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = createRandom(seed)
      const log = generateRun(random)
      const first = random() < 0.5 ? 0 : Math.floor(random() * log.length)
      const hidden = random() < 0.5 ? undefined : log[Math.floor(random() * log.length)]?.type
      const events = log.slice(first).filter(({ type }) => type !== hidden)
      const { sent, restored } = pass(events)
      expect(restored, `seed ${seed}`).toEqual(events)
      omitted += sent.filter(({ repeats }) => repeats !== undefined).length
    }
    expect(omitted).toBeGreaterThan(1_000)
  })

  it('[PROTO-R2] An answer is sent in full if the reader got only a part of its tokens', () => {
    const log = answerLog(['a'.repeat(600), 'b'.repeat(600)])
    expect(pass(log).sent.map(({ repeats = [] }) => repeats)).toEqual([
      [],
      [],
      [],
      [{ at: '/responseText', seq: 1, from: '/token' }],
      [{ at: '/output', seq: 3, from: '/responseText' }],
      [{ at: '/outputs/0/output', seq: 4, from: '/output' }],
    ])
    expect(pass(log.slice(2)).sent.map(({ repeats = [] }) => repeats.length)).toEqual([0, 0, 1, 1])
  })

  it('[PROTO-R1] Texts that only look the same in UTF-8 are different texts', () => {
    const log = answerLog([`\ud800${'a'.repeat(600)}`], `\ufffd${'a'.repeat(600)}`)
    const { sent, restored } = pass(log)
    expect(sent[2]).not.toHaveProperty('repeats')
    expect(restored).toEqual(log)
  })

  it('[PROTO-R1] An answer whose tokens split a surrogate pair is omitted', () => {
    const log = answerLog([`${'a'.repeat(3_000)}\ud83c`, `\udfbb${'b'.repeat(3_000)}`])
    const { sent, restored } = pass(log)
    expect(sent[3]).toMatchObject({ responseText: '', repeats: [{ seq: 1 }] })
    expect(restored).toEqual(log)
  })

  it('Events with short texts are returned unchanged', () => {
    const log = answerLog(['a'.repeat(511)])
    const omitter = new RepeatOmitter()
    for (const event of log) expect(omitter.omit(event)).toBe(event)
  })

  it('A stream with an answer of 1 MB has at most 1.1 times the bytes of its tokens', () => {
    const tokens = Array.from({ length: 250 }, (_, index) => `${index} `.padEnd(4_000, 'text '))
    const log = answerLog(tokens)
    const size = (events: readonly object[]): number => Buffer.byteLength(JSON.stringify(events))
    const { sent, restored } = pass(log)
    expect(restored).toEqual(log)
    expect(size(sent) / tokens.join('').length).toBeLessThan(MAX_RATIO)
    expect(size(log) / tokens.join('').length).toBeGreaterThan(4)
  })

  it('[PROTO-R3] Turns and texts beyond the limits of a stream are sent in full', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `task-${index}`)
    const text = (name: string): string => name.padEnd(600, '.')
    const log = toLog([
      ...names.map((name) => token(name, text(name))),
      ...names.map((name) => completed(name, text(name))),
      result(names.map((name) => [name, text(name)])),
    ])
    const { sent, restored } = pass(log)
    expect(restored).toEqual(log)
    const turns = sent.filter(({ type, repeats }) => type !== 'run_result' && repeats !== undefined)
    expect(turns).toHaveLength(128)
    expect(sent.at(-1)?.repeats).toHaveLength(1_024)
  })
})

/** Sends events as JSON, and restores them. */
function pass(events: readonly LoggedRunEvent[]): {
  readonly sent: readonly StreamedRunEvent[]
  readonly restored: readonly LoggedRunEvent[]
} {
  const omitter = new RepeatOmitter()
  const restorer = new TextRestorer()
  const sent = events.map((event) => omitter.omit(event))
  const restored = sent.map((event) => {
    const decoded = restorer.restore(JSON.parse(JSON.stringify(event)))
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
    return decoded.value
  })
  return { sent, restored }
}

/** Returns the log of a task with one turn. */
function answerLog(tokens: readonly string[], text = tokens.join('')): readonly LoggedRunEvent[] {
  return toLog([
    started('write'),
    ...tokens.map((piece) => token('write', piece)),
    completed('write', text),
    ended('write', text),
    result([['write', text]]),
  ])
}

/** Returns a run of parallel tasks with attempts, turns, failed calls, reasoning and reviews. */
function generateRun(random: () => number): readonly LoggedRunEvent[] {
  const flip = (share: number): boolean => random() < share
  const outputs: [string, string][] = []
  const tasks = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => {
    const name = `task-${index}`
    const events: RunEvent[] = []
    let text = ''
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      for (let turn = 0; turn < 3; turn += 1) {
        const at = { attempt, iterationIndex: turn }
        const pieces = splitText(random, flip(0.9) ? randomText(random, 3_000) : '\ud800 lone')
        const thoughts = flip(0.5) ? [randomText(random, 900), randomText(random, 900)] : []
        if (flip(0.2)) events.push(started(name, at), token(name, randomText(random, 900), at))
        events.push(started(name, at))
        events.push(...thoughts.map((thought) => reasoning(name, thought, at)))
        if (flip(0.8)) events.push(...pieces.map((piece) => token(name, piece, at)))
        text = flip(0.9) ? pieces.join('') : randomText(random, 2_000)
        events.push(completed(name, text, { ...at, reasoning: thoughts.join('') }))
      }
      if (flip(0.3)) events.push(review(name, flip(0.5) ? text : randomText(random, 2_000)))
    }
    const output = flip(0.7) ? text : text.trim()
    events.push(ended(name, output))
    outputs.push([name, flip(0.9) ? output : '[redacted]'])
    return events
  })
  const merged: RunEvent[] = []
  while (tasks.some((events) => events.length > 0)) {
    const open = tasks.filter((events) => events.length > 0)
    merged.push(...(open[Math.floor(random() * open.length)]?.splice(0, 1) ?? []))
  }
  return toLog([...merged, result(outputs)])
}

function toLog(events: readonly RunEvent[]): readonly LoggedRunEvent[] {
  return events.map((event, seq) => ({ ...event, runId: 'run-1', seq, id: `run-1:${seq}` }))
}

const CHARACTERS = ['a', 'b', ' ', '\n', '🎻', 'é', '\u2028']

function randomText(random: () => number, maxLength: number): string {
  const length = Math.floor(random() * maxLength)
  return Array.from({ length }, () => CHARACTERS[Math.floor(random() * CHARACTERS.length)]).join('')
}

/** Splits a text into up to six pieces, also between the halves of a surrogate pair. */
function splitText(random: () => number, text: string): readonly string[] {
  const cuts = Array.from({ length: Math.floor(random() * 6) }, () =>
    Math.floor(random() * text.length),
  ).toSorted((a, b) => a - b)
  return [0, ...cuts].map((cut, index) => text.slice(cut, cuts[index]))
}

/** Returns a generator of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Turn {
  readonly attempt?: number
  readonly iterationIndex?: number
}

function position(taskName: string, { attempt = 1, iterationIndex = 0 }: Turn) {
  const label = { agentRole: 'Writer', taskDescription: 'Write' }
  return { ...label, taskName, taskIndex: 1, attempt, iterationIndex }
}

function started(name: string, turn: Turn = {}): RunEvent {
  return {
    type: 'llm_iteration_started',
    ...position(name, turn),
    messages: [],
    totalMessageCount: 0,
    model: 'small',
    startedAt: AT,
  }
}

function token(name: string, text: string, turn: Turn = {}): RunEvent {
  return { type: 'token', token: text, sentAt: AT, ...position(name, turn) }
}

function reasoning(name: string, text: string, turn: Turn = {}): RunEvent {
  const { taskDescription: _, ...rest } = position(name, turn)
  return { type: 'reasoning', text, sentAt: AT, ...rest }
}

function completed(
  name: string,
  responseText: string,
  { reasoning: thought, ...turn }: Turn & { readonly reasoning?: string } = {},
): RunEvent {
  return {
    type: 'llm_iteration_completed',
    ...position(name, turn),
    responseType: 'FINAL_ANSWER',
    responseText,
    inputTokens: 1,
    outputTokens: 1,
    latencyMs: 1,
    model: 'small',
    completedAt: AT,
    finishReason: 'stop',
    ...(thought === undefined ? {} : { reasoning: thought }),
  }
}

function review(name: string, taskOutput: string): RunEvent {
  const { iterationIndex: _, ...rest } = position(name, {})
  return {
    type: 'review_requested',
    ...rest,
    reviewId: `review-${name}`,
    kind: 'TASK_OUTPUT',
    taskOutput,
    timing: 'AFTER_EXECUTION',
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: AT,
  }
}

function ended(name: string, output: string): RunEvent {
  const { iterationIndex: _, ...rest } = position(name, {})
  return {
    type: 'task_completed',
    ...rest,
    totalTasks: 1,
    completedAt: AT,
    durationMs: 1,
    tokenCount: 2,
    toolCallCount: 0,
    output,
    inputTokens: 1,
    outputTokens: 1,
    iterationLimitReached: false,
  }
}

function result(outputs: readonly (readonly [string, string])[]): RunEvent {
  return {
    type: 'run_result',
    runId: 'run-1',
    status: 'COMPLETED',
    outputs: outputs.map(([taskName, output]) => ({ taskName, output })),
    durationMs: 1,
  }
}
