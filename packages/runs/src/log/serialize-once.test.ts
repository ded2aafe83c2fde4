import { readdirSync, readFileSync } from 'node:fs'

import { RUN_EVENT_TYPES } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { serializeOnce, toLoggedEvent } from './serialize-once.ts'
import { encodeWrite } from './stored-values.ts'

import type { RunEvent } from '@tutti/protocol'

/** Valid events of every type, without their positions. */
const FIXTURES: readonly RunEvent[] = readFixtures()

function readFixtures(): RunEvent[] {
  const folder = new URL('../../../protocol/fixtures/valid/', import.meta.url)
  return readdirSync(folder).flatMap((name) => {
    const { seq: _, id: __, ...value } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
    // A message of another wire may have the type of an event.
    const isEvent = RUN_EVENT_TYPES.includes(value.type) && !name.startsWith('Logged')
    return isEvent ? [value] : []
  })
}

const TOKEN: RunEvent = {
  type: 'token',
  taskIndex: 0,
  taskName: 'play',
  attempt: 1,
  iterationIndex: 0,
  agentRole: 'Player',
  taskDescription: 'Play a fugue',
  token: 'cœur \u{1F3B5} "\n\ud800',
  sentAt: '2026-01-01T00:00:00.000Z',
}

describe('serializeOnce', () => {
  it('serializeOnce returns the JSON of an event with its position, whether the event was serialized before or not', () => {
    const fresh = toLoggedEvent('run-"1"', 7, { ...TOKEN })
    expect(serializeOnce(fresh)).toBe(JSON.stringify(fresh))
    const event = { ...TOKEN }
    expect(serializeOnce(event)).toBe(JSON.stringify(TOKEN))
    const logged = toLoggedEvent('run-"1"', 7, event)
    expect(serializeOnce(logged)).toBe(JSON.stringify(logged))
  })

  it.each(RUN_EVENT_TYPES)(
    'serializeOnce returns the same JSON, with each name once, for a live and a stored event of type %s',
    (type) => {
      const events = FIXTURES.filter((event) => event.type === type)
      expect(events).not.toEqual([])
      for (const event of events) {
        const stored: RunEvent = JSON.parse(serializeOnce(event))
        const live = serializeOnce(toLoggedEvent('run-b', 7, event))
        expect(live).toBe(JSON.stringify(toLoggedEvent('run-b', 7, stored)))
        expect(JSON.parse(live)).toMatchObject({ runId: 'run-b', seq: 7, id: 'run-b:7' })
        expect(live).toBe(JSON.stringify(JSON.parse(live)))
      }
    },
  )

  it('serializeOnce reads an event once for its size, the store and all readers', () => {
    let reads = 0
    const event: RunEvent = { ...TOKEN }
    Object.defineProperty(event, 'toJSON', {
      value: () => {
        reads += 1
        return TOKEN
      },
    })
    serializeOnce(event)
    encodeWrite({ events: [event], steps: [] }, -1)
    const logged = toLoggedEvent('run-1', 0, event)
    expect([serializeOnce(logged), serializeOnce(logged)]).toEqual(
      Array(2).fill(JSON.stringify({ ...TOKEN, runId: 'run-1', seq: 0, id: 'run-1:0' })),
    )
    expect(reads).toBe(1)
  })
})
