import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { turns } from '../../test/turns.ts'
import { OfferRelay } from './offer-relay.ts'

import type { StoredOffer } from '../ports/dispatcher.ts'

it('The offer relay sends all offers of the outbox, and removes them', async () => {
  const { relay, outbox, sent } = setUp({ count: 450 })
  relay.send()
  await turns()
  expect([sent, outbox]).toEqual([ids(450), []])
})

it('The offer relay sends offers that are stored while it sends', async () => {
  const { relay, outbox, sent } = setUp({ count: 1 })
  relay.send()
  outbox.push(offerOf('new'))
  relay.send()
  relay.send()
  await turns()
  expect([sent, outbox]).toEqual([['0', 'new'], []])
})

it('The offer relay retains offers that did not arrive, and sends them again after 1.5 s', async () => {
  const { relay, outbox, sent, clock, fail, logged } = setUp({ count: 3 })
  fail('1')
  relay.send()
  await turns()
  expect([sent, outbox]).toEqual([['0', '2'], [offerOf('1')]])
  expect(logged).toEqual(['Failed to send offers; they stay in the outbox'])
  fail()
  await clock.advance(1_499)
  expect(sent).toEqual(['0', '2'])
  await clock.advance(1)
  await turns()
  expect([sent, outbox, clock.pending]).toEqual([['0', '2', '1'], [], 0])
})

it('The offer relay tries again when the store cannot be read', async () => {
  const { relay, sent, clock, breakStore, logged } = setUp({ count: 1 })
  breakStore(true)
  relay.send()
  await turns()
  expect([sent, logged.length]).toEqual([[], 1])
  breakStore(false)
  await clock.advance(1_500)
  await turns()
  expect(sent).toEqual(['0'])
})

it('The offer relay leaves offers in the outbox while the engine cannot be reached', async () => {
  const { relay, outbox, sent, clock, setReady } = setUp({ count: 2 })
  setReady(false)
  relay.send()
  await turns()
  expect([sent, outbox.length, clock.pending]).toEqual([[], 2, 0])
  setReady(true)
  relay.send()
  await turns()
  expect(sent).toEqual(['0', '1'])
})

it('The offer relay still sends new offers when it is stopped, but none again', async () => {
  const { relay, sent, clock, fail } = setUp({ count: 2 })
  fail('1')
  relay.stop()
  relay.send()
  await turns()
  expect([sent, clock.pending]).toEqual([['0'], 0])
})

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => String(at))
}

function offerOf(offerId: string): StoredOffer {
  return { offerId, runId: `run-${offerId}`, epoch: 0, claimKey: 'key' }
}

/** A relay over an outbox with this many offers. Each claim returns all that are not settled. */
function setUp({ count }: { readonly count: number }) {
  const clock = fakeClock()
  const logged: string[] = []
  const outbox = ids(count).map(offerOf)
  const sent: string[] = []
  let failing: string | undefined
  let isReady = true
  let isBroken = false
  const relay = new OfferRelay({
    outbox: {
      claim: (limit) => {
        if (isBroken) return Promise.reject(new Error('no connection'))
        return Promise.resolve(outbox.slice(0, limit))
      },
      settle: (offers) => {
        for (const offer of offers) outbox.splice(outbox.indexOf(offer), 1)
        return Promise.resolve()
      },
    },
    publish: ({ offerId }) => {
      if (offerId === failing) return Promise.reject(new Error('no answer'))
      sent.push(offerId)
      return Promise.resolve()
    },
    isReady: () => isReady,
    clock,
    logger: { ...silentLogger, warn: (message) => logged.push(message) },
  })
  return {
    relay,
    outbox,
    sent,
    clock,
    fail: (offerId?: string) => (failing = offerId),
    setReady: (ready: boolean) => (isReady = ready),
    breakStore: (broken: boolean) => (isBroken = broken),
    logged,
  }
}
