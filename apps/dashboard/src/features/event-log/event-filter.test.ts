import { describe, expect, it } from 'vitest'

import { eventOf } from '../../../../../packages/protocol/test/run-events.ts'
import { eventsMatching, matches, upTo, type LogFilter } from './event-filter.ts'
import { EVENT_GROUPS } from './event-groups.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

const ALL: LogFilter = {
  groups: new Set(EVENT_GROUPS.map(({ name }) => name)),
  taskName: undefined,
  text: '',
}

function log(...events: readonly RunEvent[]): readonly LoggedRunEvent[] {
  return events.map((event, seq) => ({ ...event, runId: 'r', seq, id: `r:${seq}` }))
}

const EVENTS = log(
  eventOf('run_queued'),
  eventOf('task_started'),
  eventOf('token'),
  eventOf('tool_called'),
  eventOf('token', { taskName: 'writer', token: 'Dear Reader' }),
)

const seqs = (events: readonly LoggedRunEvent[]) => events.map(({ seq }) => seq)
const asked = (filter: Partial<LogFilter>) => seqs(eventsMatching({ ...ALL, ...filter })(EVENTS))

describe('a filter', () => {
  it('asks for groups, a task and a text, all at once', () => {
    expect(asked({})).toEqual([0, 1, 2, 3, 4])
    expect(asked({ groups: new Set(['tokens']) })).toEqual([2, 4])
    expect(asked({ taskName: 'researcher' })).toEqual([1, 2, 3])
    expect(asked({ groups: new Set(['tokens', 'run']), taskName: 'researcher' })).toEqual([2])
    expect(asked({ groups: new Set() })).toEqual([])
  })

  it('finds text in any case, in the line and in the JSON', () => {
    expect(asked({ text: 'dear rEADER' })).toEqual([4])
    expect(asked({ text: 'Tool called' })).toEqual([3])
    // Only the JSON has the id of the call, and what was searched for.
    expect(asked({ text: 'call_1' })).toEqual([3])
    expect(asked({ text: 'article 6' })).toEqual([3])
    expect(asked({ text: 'nowhere' })).toEqual([])
  })
})

describe('a log that grows', () => {
  it('gives what looking at all of it would give, at every length', () => {
    const filter: LogFilter = { ...ALL, groups: new Set(['tokens', 'tools']) }
    const matching = eventsMatching(filter)
    for (let length = 0; length <= EVENTS.length; length += 1) {
      const part = EVENTS.slice(0, length)
      expect(matching(part)).toEqual(part.filter((event) => matches(event, filter)))
    }
  })

  it('gives the very same list when nothing that is asked for has come', () => {
    const matching = eventsMatching({ ...ALL, groups: new Set(['run']) })
    expect(matching(EVENTS.slice(0, 2))).toBe(matching(EVENTS))
  })

  it('begins anew with another log', () => {
    const matching = eventsMatching(ALL)
    matching(EVENTS)
    const other = log(eventOf('run_queued', { ensemble: 'other' }))
    expect(matching(other)).toEqual(other)
    expect(matching(EVENTS.slice(0, 3))).toEqual(EVENTS.slice(0, 3))
  })
})

describe('an earlier moment', () => {
  it('has the events that had been by then, and at the end all of them', () => {
    const tokens = eventsMatching({ ...ALL, groups: new Set(['tokens']) })(EVENTS)
    const until = (count: number | undefined) => seqs(upTo(tokens, count))
    expect([0, 2, 3, 4, 5].map(until)).toEqual([[], [], [2], [2], [2, 4]])
    expect(upTo(tokens, undefined)).toBe(tokens)
    expect(upTo(tokens, 5)).toBe(tokens)
    expect(upTo([], 1)).toEqual([])
  })
})
