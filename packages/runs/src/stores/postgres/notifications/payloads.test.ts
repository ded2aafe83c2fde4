import { describe, expect, it } from 'vitest'

import { fromPayload, toPayloads } from './notifications.ts'

import type { SentNotification } from '../../../ports/notifications.ts'

const ORIGIN = 'origin-a'

describe('payloads of NOTIFY', () => {
  it('Payloads of NOTIFY round-trip notifications in order', () => {
    const notifications: readonly SentNotification[] = [
      { kind: 'events', runId: 'run "\u0000\ud800', from: 3, to: 9 },
      { kind: 'ready' },
      { kind: 'command', runId: 'run-b' },
      { kind: 'answer', commandId: 's' },
    ]
    const payloads = toPayloads(ORIGIN, notifications)
    expect(payloads).toHaveLength(1)
    expect(payloads[0]).not.toContain('\0')
    expect(payloads.flatMap((payload) => fromPayload('b', payload))).toEqual(notifications)
  })

  it('Payloads of NOTIFY are ignored by their sender', () => {
    const payloads = toPayloads(ORIGIN, [{ kind: 'ready' }])
    expect(payloads.flatMap((payload) => fromPayload(ORIGIN, payload))).toEqual([])
  })

  it('Payloads of NOTIFY are not created without notifications', () => {
    expect(toPayloads(ORIGIN, [])).toEqual([])
  })

  it('Payloads of NOTIFY split many notifications within the limit of Postgres, without loss', () => {
    const notifications = Array.from({ length: 1000 }, (_, index) => ({
      kind: 'events' as const,
      runId: `run-äöü-${index}`,
      from: index,
      to: index + 1,
    }))
    const payloads = toPayloads(ORIGIN, notifications)
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(7_500)
    expect(payloads.length).toBeLessThan(16)
    expect(payloads.flatMap((payload) => fromPayload('b', payload))).toEqual(notifications)
  })

  it('Payloads of NOTIFY replace a notification that is too long with missed', () => {
    const long = { kind: 'command' as const, runId: 'x'.repeat(9_000) }
    const payloads = toPayloads(ORIGIN, [{ kind: 'ready' }, long, { kind: 'ready' }])
    const recorded = payloads.flatMap((payload) => fromPayload('b', payload))
    expect(recorded.map(({ kind }) => kind)).toEqual(['ready', 'missed', 'ready'])
  })

  it.for(['', 'x', '{}', '{"from":"b","items":7}'])(
    'Payloads of NOTIFY convert the invalid payload %j to missed',
    (text) => {
      expect(fromPayload(ORIGIN, text)).toEqual([{ kind: 'missed' }])
    },
  )
})
