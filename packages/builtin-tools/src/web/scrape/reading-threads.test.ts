import { execFileSync } from 'node:child_process'

import { describe, expect, it } from 'vitest'

import { ReadingThreads, type ReadingLimits } from './reading-threads.ts'

const LIMITS = { maxThreads: 1, timeoutMs: 30_000, maxHeapMiB: 512, idleMs: 30_000 }
const PAGE = '<title>T</title><p>a<p>caf&eacute;'
const TEXT = { title: 'T', text: 'a\n\ncafé' }

/** A page that takes a second to read, which is the limit for finding the article. */
const HOSTILE = `<body><ul>${'<li><img src=x></li>'.repeat(8_000)}</ul><p>the end`

function threads(limits: Partial<ReadingLimits> = {}) {
  const reading = new ReadingThreads({ ...LIMITS, ...limits })
  return {
    read: (html: string, signal = new AbortController().signal) => reading.read(html, {}, signal),
  }
}

describe('a page in ReadingThreads', () => {
  it('A page in ReadingThreads is read in another thread, one page after the other', async () => {
    const { read } = threads()
    expect(await read(PAGE)).toEqual(TEXT)
    expect(await read(PAGE)).toEqual(TEXT)
    expect(await Promise.all([read(PAGE), read(PAGE), read(PAGE)])).toEqual([TEXT, TEXT, TEXT])
  })

  it('A page in ReadingThreads does not block this thread when it is hostile', async () => {
    const { read } = threads()
    await read(PAGE)
    const before = process.threadCpuUsage()
    await Promise.all([read(HOSTILE), read(HOSTILE), read(HOSTILE)])
    const { user } = process.threadCpuUsage(before)
    // In this thread it would take three seconds.
    expect(user / 1_000).toBeLessThan(500)
  })

  it('[TOOLS-R2] A page in ReadingThreads fails when it takes too long, and the next one is read', async () => {
    const { read } = threads({ timeoutMs: 5_000 })
    await read(PAGE)
    const slow = threads({ timeoutMs: 1 })
    await expect(slow.read(HOSTILE)).rejects.toThrow('reading the page took longer than 1 ms')
    const [failed, next] = await Promise.allSettled([slow.read(HOSTILE), read(PAGE)])
    expect([failed.status, next]).toMatchObject(['rejected', { value: TEXT }])
  })

  it('[TOOLS-R2] A page in ReadingThreads fails when it takes too much memory, and the next one is read', async () => {
    const { read } = threads({ maxHeapMiB: 32 })
    const many = Array.from({ length: 1_000_000 }, (_, n) => `<p>&a${n};`).join('')
    await expect(read(many)).rejects.toThrow('reading the page took more than 32 MiB')
    expect(await read(PAGE)).toEqual(TEXT)
  })

  it('A page in ReadingThreads ends when the signal aborts, also while it waits', async () => {
    const { read } = threads()
    const stop = new AbortController()
    const [first, second] = [read(HOSTILE, stop.signal), read(PAGE, stop.signal)]
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    await expect(second).rejects.toThrow('stopped')
    await expect(read(PAGE, stop.signal)).rejects.toThrow('stopped')
    expect(await read(PAGE)).toEqual(TEXT)
  })

  it('[TOOLS-R3] A page in ReadingThreads leaves no thread that keeps the process alive', () => {
    const module = new URL('reading-threads.ts', import.meta.url).href
    const program = `
      const { ReadingThreads } = await import(${JSON.stringify(module)})
      const threads = new ReadingThreads(${JSON.stringify(LIMITS)})
      const { text } = await threads.read('<p>read', {}, new AbortController().signal)
      console.log(text)`
    const args = ['--conditions=@tutti/source', '--input-type=module', '--eval', program]
    const said = execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 25_000 })
    expect(said).toBe('read\n')
  })
})
