import { describe, expect, it } from 'vitest'

import { eventBytes, eventJson } from './event-json.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const event: LoggedRunEvent = {
  id: 'run:1',
  seq: 1,
  runId: 'run',
  type: 'token',
  token: 'cœur \u{1F3B5} "\n',
  agentRole: 'Poet',
  taskDescription: 'Write',
  sentAt: '2026-01-01T00:00:00.000Z',
  taskIndex: 1,
  taskName: 'write',
  attempt: 1,
  iterationIndex: 0,
}

describe('an event as it is sent', () => {
  it('is the event as JSON, as text and as bytes of UTF-8', () => {
    expect(JSON.parse(eventJson(event))).toEqual(event)
    expect(JSON.parse(eventBytes(event).toString('utf8'))).toEqual(event)
  })

  it('is made once, and another event has its own', () => {
    expect(eventBytes(event)).toBe(eventBytes(event))
    const other = { ...event, seq: 2 }
    expect(JSON.parse(eventBytes(other).toString())).toEqual(other)
  })
})
