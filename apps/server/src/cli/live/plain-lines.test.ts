import { emptyRunState, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { plainLines } from './plain-lines.ts'

const TURN = {
  agentRole: 'Writer',
  taskDescription: 'Write',
  iterationIndex: 0,
  taskName: 'write',
  taskIndex: 1,
  attempt: 1,
  model: 'small',
  latencyMs: 5,
  runId: 'run-1',
  seq: 1,
  id: 'run-1:1',
} as const

const ANSWER = {
  ...TURN,
  type: 'llm_iteration_completed',
  responseType: 'FINAL_ANSWER',
  inputTokens: -1,
  outputTokens: -1,
} as const

const FAILURE = {
  ...TURN,
  type: 'llm_iteration_failed',
  reason: 'Slow down',
  code: 'MODEL_FAILED',
  failedAt: '2026-01-01T00:00:00.000Z',
} as const

function wordsOf(event: LoggedRunEvent): readonly string[] {
  return plainLines(event, emptyRunState()).map((line) => line.replace(/^\[[^\]]*\] /, ''))
}

describe('the lines of a model call', () => {
  it('say why an answer ended early, and nothing about a whole one', () => {
    expect(wordsOf({ ...ANSWER, finishReason: 'stop' })).toEqual([])
    expect(wordsOf({ ...ANSWER, finishReason: 'length' })).toEqual([
      'write: model small: answer cut at the output limit',
    ])
    expect(wordsOf({ ...ANSWER, finishReason: 'refusal', refusal: 'I cannot.' })).toEqual([
      'write: model small: refused to answer: I cannot.',
    ])
  })

  it('say how long the provider asked to wait, also when that is not waited', () => {
    expect(wordsOf({ ...FAILURE, retryAfterMs: 90_000, nextModel: 'large' })).toEqual([
      expect.stringMatching(/Slow down; it asks to wait .*; large is asked next$/),
    ])
  })
})
