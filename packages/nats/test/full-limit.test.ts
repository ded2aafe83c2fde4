import { expect, it } from 'vitest'

import { turns } from '../../runs/test/turns.ts'
import { NatsDispatcher } from '../src/nats-dispatcher.ts'
import { resolveNatsEngineOptions } from '../src/options.ts'
import { createNames, encodeOffer } from '../src/subjects.ts'

import type { NatsLink } from '../src/nats-link.ts'
import type { ClaimRequest, EngineHost } from '@tutti/runs'

const REQUEST: ClaimRequest = {
  owner: 'owner-a',
  leaseMs: 10_000,
  wanted: 3,
  maxConcurrentRuns: 5,
  known: { ensembles: ['band'], othersAfterMs: Infinity },
}

it('[NATS-E7] returns offers and pulls none after it met the full limit, until it takes again', async () => {
  const counts = { pulled: 0, returned: 0, claims: 0 }
  const next = (): Promise<unknown> => {
    counts.pulled += 1
    const payload = encodeOffer({ runId: `run-${counts.pulled}`, epoch: 0, claimKey: 'band' })
    const nak = (): void => {
      counts.returned += 1
    }
    return Promise.resolve({ string: () => payload, nak })
  }
  const ready = {
    manager: {
      consumers: {
        info: () => Promise.resolve({ config: {} }),
        update: () => Promise.resolve(),
      },
    },
    stream: { consumers: { get: () => Promise.resolve({ next }) } },
  }
  const host: Partial<EngineHost> = {
    queue: {
      claimOffered: async (offers) => {
        counts.claims += 1
        return offers.map(() => ({ kind: 'full' }))
      },
    },
    dispatcher: { take: () => Promise.resolve([]) },
    receive: () => undefined,
  }
  // NOTE: the dispatcher only uses these parts.
  const dispatcher = new NatsDispatcher({
    host: host as EngineHost,
    link: { ready } as unknown as NatsLink,
    names: createNames('test'),
    settings: resolveNatsEngineOptions({ servers: 'nats://localhost:4222' }),
  })
  await dispatcher.take(REQUEST)
  await turns()
  expect(counts).toEqual({ pulled: 3, returned: 0, claims: 0 })
  await dispatcher.take(REQUEST)
  await turns()
  expect(counts).toEqual({ pulled: 3, returned: 3, claims: 1 })
  await dispatcher.take(REQUEST)
  await turns()
  expect(counts).toEqual({ pulled: 6, returned: 3, claims: 1 })
})
