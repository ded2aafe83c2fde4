import { describe, expect, it } from 'vitest'

import {
  commandEntry,
  COMMANDS,
  isCommandEvent,
  RUN_COMMAND_KINDS,
  RunCommand,
} from './commands.ts'
import { decode, decodeClientMessage } from './decode.ts'
import { commandPath, ROUTES } from './routes.ts'
import { RUN_EVENT_TYPES } from './schemas/run-event.ts'

describe('COMMANDS', () => {
  it('COMMANDS has the kind of each command as its key', () => {
    expect(RUN_COMMAND_KINDS).toEqual(Object.keys(COMMANDS))
  })

  it.each(Object.values(COMMANDS))(
    'COMMANDS has the route, target and event of $routeName',
    ({ route, routeName, target, event }) => {
      expect(ROUTES[routeName]).toBe(route)
      expect(route.path).toContain(`{${target}}`)
      expect(RUN_EVENT_TYPES).toContain(event)
      expect(isCommandEvent(event)).toBe(true)
    },
  )

  it('COMMANDS has a different verb and event for each command', () => {
    const entries = RUN_COMMAND_KINDS.map((kind) => commandEntry(kind))
    expect(new Set(entries.map(({ cli }) => cli.verb)).size).toBe(entries.length)
    expect(new Set(entries.map(({ event }) => event)).size).toBe(entries.length)
    expect(isCommandEvent('run_queued')).toBe(false)
  })

  it('COMMANDS gives a command the schema of its kind', () => {
    expect(decode(RunCommand, { kind: 'cancel', mode: 'boundary' })).toMatchObject({ ok: true })
    expect(decode(RunCommand, { kind: 'pause' })).toMatchObject({
      ok: false,
      problems: [{ path: '/kind' }],
    })
  })

  it('COMMANDS requires the body of a command in its message, unless the route does not', () => {
    const message = { type: 'command', requestId: '1', target: 'x' }
    const required = RUN_COMMAND_KINDS.filter(
      (command) => !decodeClientMessage({ ...message, command }).ok,
    )
    expect(required).toEqual(['inject', 'switch_model', 'decide'])
  })
})

describe('commandPath', () => {
  it('commandPath fills in the id of the run or the review', () => {
    expect(commandPath('cancel', 'run/1')).toBe('/api/runs/run%2F1/cancel')
    expect(commandPath('decide', 'review:1')).toBe('/api/reviews/review%3A1')
  })

  it('commandPath rejects an id that would change the path', () => {
    expect(() => commandPath('cancel', '..')).toThrow(
      'Cannot build the path of "cancelRun": runId must be a path segment, got ".."',
    )
  })
})
