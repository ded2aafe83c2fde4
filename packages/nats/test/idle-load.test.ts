import { describe, expect, it } from 'vitest'

import { measureIdleProcess, type IdleLoad } from '../../runs/test/idle-process.ts'
import { NatsDispatcher } from '../src/nats-dispatcher.ts'
import { resolveNatsEngineOptions } from '../src/options.ts'
import { createNames } from '../src/subjects.ts'

import type { NatsLink } from '../src/nats-link.ts'
import type { EngineHost } from '@tutti/runs/adapter'

/** Measures one of so many processes that NATS dispatches, while it offers no run. */
function measureWithNats(processes: number): Promise<IdleLoad> {
  return measureIdleProcess({ processes, seconds: 7_200 }, (dispatcher, clock) => {
    const settings = resolveNatsEngineOptions({ servers: 'nats://localhost:4222', clock })
    const never = (): Promise<never> => new Promise(() => undefined)
    const ready = { manager: { consumers: { info: never } } }
    // NOTE: without offers, the dispatcher only uses these parts.
    return new NatsDispatcher({
      host: { dispatcher } as Partial<EngineHost> as EngineHost,
      link: { ready } as unknown as NatsLink,
      names: createNames('test'),
      settings,
    })
  })
}

describe('a process without runs that NATS dispatches', () => {
  it.for([10, 200])(
    '[NATS-E5] A process without runs that NATS dispatches asks Postgres at most once in 10 s as one of %i',
    async (processes) => {
      const { perSecond } = await measureWithNats(processes)
      expect(perSecond * 10).toBeLessThanOrEqual(1)
    },
  )

  it.for([1, 10])(
    '[NATS-E5] A process without runs that NATS dispatches takes runs from Postgres within 20 s as one of %i',
    async (processes) => {
      const { longestGapMs, methods } = await measureWithNats(processes)
      expect(longestGapMs).toBeLessThanOrEqual(20_000)
      // Its claims renew its lease.
      expect(methods).not.toContain('renew')
    },
  )
})
