/** Runs the phases of a scale test. A phase that fails or takes too long is reported, and the later ones still run. */
import { systemClock, type Clock } from '@tutti/core'
import { errorMessage, sleep } from '@tutti/core/internal'

/** Options of {@link Phases}. */
export interface PhasesOptions {
  /** Called with the beginning and the failure of each phase. */
  readonly say: (text: string) => void
  /** Called when a phase takes too long, to end what it left behind. Its failure is ignored. */
  readonly onLate: () => Promise<unknown>
  /** Called at the end of each phase. */
  readonly onEnd?: () => void
  /** @default systemClock */
  readonly clock?: Clock
}

/** The phases of a test. */
export class Phases {
  /** Failures of phases, each with the name of its phase. */
  readonly problems: string[] = []
  readonly #options: PhasesOptions

  constructor(options: PhasesOptions) {
    this.#options = options
  }

  /** Runs a phase for at most `limitMs` milliseconds. Resolves with undefined if it failed. */
  async run<T>(name: string, limitMs: number, act: () => Promise<T>): Promise<T | undefined> {
    const { say, onLate, onEnd, clock = systemClock } = this.#options
    const timer = new AbortController()
    let isLate = false
    const late = sleep(clock, limitMs, timer.signal).then((): never => {
      isLate = true
      throw new Error(`took longer than ${limitMs / 1_000} s`)
    })
    say(name)
    const acting = act()
    try {
      return await Promise.race([acting, late])
    } catch (error) {
      const problem = `${name}: ${errorMessage(error)}`
      this.problems.push(problem)
      say(`! ${problem}`)
      if (isLate) {
        acting.catch(() => undefined)
        await onLate().catch(() => undefined)
      }
      return undefined
    } finally {
      late.catch(() => undefined)
      timer.abort()
      onEnd?.()
    }
  }
}
