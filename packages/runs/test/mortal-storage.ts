/** Storages whose process dies between two of its writes, of any kind. */
import type { RunStorage } from '@tutti/runs/adapter'

/** A storage of a process that can die. */
export interface MortalStorage {
  readonly storage: RunStorage
  /** Resolves when the process has died: each of its calls then waits for ever. */
  readonly died: Promise<void>
  /** Lets the process die at its write of that number from now: just before it, or just after it without a reply. */
  dieAt(write: number, when: 'before' | 'after'): void
  /** Lets the process live on, unless it has died. */
  spare(): void
  /** Resolves when no call of the process is in flight in the store. */
  settled(): Promise<void>
}

/** Methods that write, by their port. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  runs: ['create', 'commit', 'commitUnowned'],
  queue: ['claim', 'claimOffered', 'renew', 'markWaiting', 'release'],
  dispatcher: ['take'],
  commands: ['send'],
  externalEvents: ['add', 'assign', 'giveBack', 'refuse', 'remove'],
}

/** Returns a storage over another one. @param pause called before each write, so that tests choose the order of writes */
export function mortalStorage(storage: RunStorage, pause: () => Promise<void>): MortalStorage {
  const died = Promise.withResolvers<void>()
  const never = new Promise<never>(() => undefined)
  const inFlight = new Set<Promise<unknown>>()
  let death: { left: number; readonly when: 'before' | 'after' } | undefined
  let isDead = false

  const perform = async (call: () => unknown): Promise<unknown> => {
    const running = Promise.resolve(call())
    inFlight.add(running)
    try {
      return await running
    } finally {
      inFlight.delete(running)
      if (isDead) await never
    }
  }
  const die = (): Promise<never> => {
    isDead = true
    died.resolve()
    return never
  }
  const write = async (call: () => unknown): Promise<unknown> => {
    await pause()
    if (isDead) return never
    if (death !== undefined) death.left -= 1
    const isLast = death?.left === 0
    if (isLast && death?.when === 'before') return die()
    const written = await perform(call)
    return isLast ? die() : written
  }
  const mortal = <Port extends object>(port: Port, writes: readonly string[] = []): Port =>
    new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...given: readonly unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(member, target, given)
          if (writes.includes(String(name))) return write(call)
          const result = call()
          return result instanceof Promise ? perform(() => result) : result
        }
      },
    })
  const over = new Proxy(storage, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member === 'object' && member !== null) return mortal(member, WRITES[String(name)])
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return {
    storage: over,
    died: died.promise,
    dieAt(left, when) {
      death = { left, when }
    },
    spare() {
      death = undefined
    },
    async settled() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight)
    },
  }
}
