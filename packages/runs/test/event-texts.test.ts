/** Every type of event has the same text when it is published and when it is read from the log. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { sqliteRunStorage } from '@tutti/runs'
import { serializeOnce } from '@tutti/runs/internal'
import { RUN_EVENT_TYPES } from '@tutti/protocol/internal'

import { temporaryDirectory } from './waiting-ensemble.ts'
import { toLoggedEvent } from '../src/log/serialize-once.ts'
import { ownedRun } from '../src/testing/support/run-fixtures.ts'

import type { RunEvent } from '@tutti/protocol'

const GOLDEN = new URL('../../protocol/fixtures/valid/', import.meta.url)

/** Returns the golden events by type. */
function readGoldenEvents(): ReadonlyMap<string, RunEvent> {
  const files = readdirSync(GOLDEN).filter((name) => name.startsWith('RunEvent.'))
  return new Map(
    files.map((name) => {
      const event = JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8')) as RunEvent
      return [event.type, event]
    }),
  )
}

const golden = readGoldenEvents()

describe('the text of an event', () => {
  it.each(RUN_EVENT_TYPES)(
    '[RUNS-K1] The event %s has the same text live and from the log, with each key once',
    async (type) => {
      const event = golden.get(type)
      if (event === undefined) throw new Error(`There is no golden event "${type}"`)
      using directory = temporaryDirectory()
      await using storage = await sqliteRunStorage(directory.path)
      const owner = await ownedRun(storage, 'run-a')
      // The second event refers to texts of the first one.
      const events = [event, structuredClone(event)]
      for (const one of events) serializeOnce(one)
      expect((await owner.commit(events)).kind).toBe('written')
      const { events: read } = await storage.events.read({ runId: 'run-a', from: 1, limit: 9 })
      const live = events.map((one, index) => serializeOnce(toLoggedEvent('run-a', index + 1, one)))
      expect(read.map(serializeOnce)).toEqual(live)
      for (const text of live) expect(JSON.stringify(JSON.parse(text))).toBe(text)
    },
  )
})
