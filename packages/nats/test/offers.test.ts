import { expect, it } from 'vitest'

import { turns } from '../../runs/test/turns.ts'
import { NatsDispatcher } from '../src/nats-dispatcher.ts'
import { resolveNatsEngineOptions } from '../src/options.ts'
import { createNames, encodeOffer } from '../src/subjects.ts'

import type { NatsLink } from '../src/nats-link.ts'
import type { ClaimRequest, EngineHost, OfferOutcome } from '@tutti/runs/adapter'

const REQUEST: ClaimRequest = {
  owner: 'owner-a',
  leaseMs: 10_000,
  wanted: 3,
  maxConcurrentRuns: 5,
  known: { ensembles: ['band'], othersAfterMs: Infinity },
}

interface Offers {
  readonly dispatcher: NatsDispatcher
  readonly counts: { pulled: number; claims: number }
  /** Answers to the messages, such as `nak 100` or `ack`. */
  readonly answers: string[]
}

/** Creates a dispatcher for a stream that never ends. The store answers each claim with `outcome`. */
function openOffers(outcome: OfferOutcome): Offers {
  const counts = { pulled: 0, claims: 0 }
  const answers: string[] = []
  const next = (): Promise<unknown> => {
    counts.pulled += 1
    const payload = encodeOffer({ runId: `run-${counts.pulled}`, epoch: 0, claimKey: 'band' })
    return Promise.resolve({
      string: () => payload,
      ack: () => answers.push('ack'),
      nak: (delayMs?: number) => answers.push(delayMs === undefined ? 'nak' : `nak ${delayMs}`),
    })
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
        return offers.map(() => outcome)
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
  return { dispatcher, counts, answers }
}

it('[NATS-E7] The receiver of offers returns offers and pulls none after it met the full limit, until it takes again', async () => {
  const { dispatcher, counts, answers } = openOffers({ kind: 'full' })
  await dispatcher.take(REQUEST)
  await turns()
  expect([counts, answers]).toEqual([{ pulled: 3, claims: 0 }, []])
  await dispatcher.take(REQUEST)
  await turns()
  expect([counts, answers]).toEqual([{ pulled: 3, claims: 1 }, ['nak', 'nak', 'nak']])
  await dispatcher.take(REQUEST)
  await turns()
  expect([counts, answers.length]).toEqual([{ pulled: 6, claims: 1 }, 3])
})

it.each<readonly [title: string, outcome: OfferOutcome, answer: string]>([
  ['returned until after the lease of another process', { kind: 'owned', forMs: 700 }, 'nak 800'],
  ['returned soon when that lease has ended meanwhile', { kind: 'owned', forMs: -5 }, 'nak 100'],
  ['acknowledged when its run needs it no longer', { kind: 'outdated' }, 'ack'],
])('[NATS-E4] An offer is %s', async (_title, outcome, answer) => {
  const { dispatcher, answers } = openOffers(outcome)
  await dispatcher.take({ ...REQUEST, wanted: 1 })
  await turns()
  await dispatcher.take({ ...REQUEST, wanted: 1 })
  expect(answers).toEqual([answer])
})
