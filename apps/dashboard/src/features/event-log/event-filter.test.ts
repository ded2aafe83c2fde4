import { describe, expect, it } from 'vitest'

import { eventOf } from '../../../../../packages/protocol/test/run-events.ts'
import { createEventFilter, matchesFilter, takeFirst, type LogFilter } from './event-filter.ts'
import { EVENT_GROUPS } from '../../api/event-kinds.ts'

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
const asked = (filter: Partial<LogFilter>) => seqs(createEventFilter({ ...ALL, ...filter })(EVENTS))

describe('matchesFilter', () => {
  it('matchesFilter combines groups, task and text', () => {
    expect(asked({})).toEqual([0, 1, 2, 3, 4])
    expect(asked({ groups: new Set(['tokens']) })).toEqual([2, 4])
    expect(asked({ taskName: 'researcher' })).toEqual([1, 2, 3])
    expect(asked({ groups: new Set(['tokens', 'run']), taskName: 'researcher' })).toEqual([2])
    expect(asked({ groups: new Set() })).toEqual([])
  })

  it('matchesFilter finds text ignoring case, in the summary and in the JSON', () => {
    expect(asked({ text: 'dear rEADER' })).toEqual([4])
    expect(asked({ text: 'Tool called' })).toEqual([3])
    // Only the JSON contains the id of the call and the query.
    expect(asked({ text: 'call_1' })).toEqual([3])
    expect(asked({ text: 'article 6' })).toEqual([3])
    expect(asked({ text: 'nowhere' })).toEqual([])
  })
})

describe('createEventFilter', () => {
  it('createEventFilter returns the same as filtering the whole log, at every length', () => {
    const filter: LogFilter = { ...ALL, groups: new Set(['tokens', 'tools']) }
    const matching = createEventFilter(filter)
    for (let length = 0; length <= EVENTS.length; length += 1) {
      const part = EVENTS.slice(0, length)
      expect(matching(part)).toEqual(part.filter((event) => matchesFilter(event, filter)))
    }
  })

  it('createEventFilter returns the same list when no new event matches', () => {
    const matching = createEventFilter({ ...ALL, groups: new Set(['run']) })
    expect(matching(EVENTS.slice(0, 2))).toBe(matching(EVENTS))
  })

  it('createEventFilter starts again with another log', () => {
    const matching = createEventFilter(ALL)
    matching(EVENTS)
    const other = log(eventOf('run_queued', { ensemble: 'other' }))
    expect(matching(other)).toEqual(other)
    expect(matching(EVENTS.slice(0, 3))).toEqual(EVENTS.slice(0, 3))
  })
})

describe('takeFirst', () => {
  it('takeFirst returns the events before a position, and all events at the end', () => {
    const tokens = createEventFilter({ ...ALL, groups: new Set(['tokens']) })(EVENTS)
    const until = (count: number | undefined) => seqs(takeFirst(tokens, count))
    expect([0, 2, 3, 4, 5].map(until)).toEqual([[], [], [2], [2], [2, 4]])
    expect(takeFirst(tokens, undefined)).toBe(tokens)
    expect(takeFirst(tokens, 5)).toBe(tokens)
    expect(takeFirst([], 1)).toEqual([])
  })
})
