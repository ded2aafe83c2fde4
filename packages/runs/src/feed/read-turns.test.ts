import { describe, expect, it } from 'vitest'

import { ReadTurns } from './read-turns.ts'

/** An event loop whose passes and time the test controls. */
function fakeLoop() {
  let queue: (() => void)[] = []
  let time = 0
  let passes = 0
  const turns = new ReadTurns({
    nextPass: (work) => queue.push(work),
    elapsed: () => time,
  })
  const log: string[] = []
  const [otherKey, otherConnection] = [{}, {}]
  return {
    log,
    /** Waits for a turn, which takes `workMs`. */
    read(name: string, { key = 'a', connection = otherKey, workMs = 0 } = {}): void {
      void turns.take({ key, connection }).then(() => {
        log.push(`${name} in pass ${passes}`)
        time += workMs
      })
    },
    otherConnection,
    /** Makes passes of the event loop, each with some other work. */
    async pass(count: number, otherMs = 0): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        passes += 1
        time += otherMs
        const due = queue
        queue = []
        for (const work of due) {
          work()
          for (let at = 0; at < 10; at += 1) await Promise.resolve()
        }
      }
    },
  }
}

describe('ReadTurns', () => {
  it('[RUNS-FL5] ReadTurns gives the first turn at once and each other eight passes later if there is little other work', async () => {
    const { read, pass, log } = fakeLoop()
    for (const name of ['a', 'b', 'c']) read(name)
    await pass(29)
    read('d')
    await pass(2)
    expect(log).toEqual(['a in pass 1', 'b in pass 9', 'c in pass 17', 'd in pass 30'])
  })

  it('[RUNS-FL5] ReadTurns lets a reader that comes right after the last one wait as well', async () => {
    const { read, pass, log } = fakeLoop()
    read('a')
    await pass(2)
    read('b')
    await pass(20)
    expect(log).toEqual(['a in pass 1', 'b in pass 9'])
  })

  it('[RUNS-FL5] ReadTurns gives the next turn after 5 ms of other work, without the time of the last turn', async () => {
    const { read, pass, log } = fakeLoop()
    read('slow', { workMs: 100 })
    read('next')
    read('last')
    await pass(1)
    await pass(2, 2)
    expect(log).toEqual(['slow in pass 1'])
    await pass(1, 2)
    expect(log).toEqual(['slow in pass 1', 'next in pass 4'])
    await pass(1, 250)
    expect(log.at(-1)).toBe('last in pass 5')
  })

  it('[RUNS-FL6] ReadTurns lets keys take turns, then connections', async () => {
    const { read, pass, log, otherConnection } = fakeLoop()
    for (const name of ['a1', 'a2', 'a3']) read(name)
    read('a4', { connection: otherConnection })
    read('b1', { key: 'b' })
    await pass(6, 250)
    expect(log.map((line) => line.slice(0, 2))).toEqual(['a1', 'b1', 'a4', 'a2', 'a3'])
  })
})
