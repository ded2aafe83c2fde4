/** Tests calls while a second thread keeps replacing files and directories with links out of the sandbox. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { runTool } from '@tutti/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { fileRead } from './file-read.ts'
import { fileWrite } from './file-write.ts'

/** Swaps until the stop message, and restores everything. */
const SWAPPER = `
  const { existsSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } = require('node:fs')
  const { workerData, parentPort } = require('node:worker_threads')
  const { inside, outside, state } = workerData
  const shared = new Int32Array(state)
  const swapFile = () => {
    symlinkSync(outside + '/file.txt', inside + '/link')
    renameSync(inside + '/link', inside + '/file.txt')
    writeFileSync(inside + '/fresh', 'inside')
    renameSync(inside + '/fresh', inside + '/file.txt')
  }
  const swapDirectory = () => {
    renameSync(inside + '/docs', inside + '/parked')
    symlinkSync(outside + '/docs', inside + '/docs')
    unlinkSync(inside + '/docs')
    renameSync(inside + '/parked', inside + '/docs')
  }
  // A call may have made the directory anew while its place was empty.
  const tidy = () => {
    if (!existsSync(inside + '/parked')) return
    rmSync(inside + '/docs', { recursive: true, force: true })
    renameSync(inside + '/parked', inside + '/docs')
  }
  const skip = (act) => { try { act() } catch {} }
  while (Atomics.load(shared, 0) === 0) {
    skip(swapFile)
    skip(swapDirectory)
    skip(tidy)
    Atomics.add(shared, 1, 1)
  }
  parentPort.postMessage('stopped')`

/** Number of calls of one test and their time limit; a fault shows much earlier. */
const [CALLS, LIMIT_MS] = [400, 2_000]

/** Number of swaps during these calls, at least: a busy machine may run one of the threads alone for a while. */
const SWAPS = 10

let home: string
let inside: string
let outside: string
let shared: Int32Array
let swapper: Worker

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-race-')))
  inside = join(home, 'inside')
  outside = join(home, 'outside')
  for (const directory of [inside, outside]) mkdirSync(join(directory, 'docs'), { recursive: true })
  for (const name of ['file.txt', 'docs/b.txt']) {
    writeFileSync(join(inside, name), 'inside')
    writeFileSync(join(outside, name), 'SECRET')
  }
  const state = new SharedArrayBuffer(8)
  shared = new Int32Array(state)
  swapper = new Worker(SWAPPER, { eval: true, workerData: { inside, outside, state } })
  await new Promise<void>((resolve, reject) => {
    swapper.once('online', resolve).once('error', reject)
  })
})

afterEach(async () => {
  await swapper.terminate()
  rmSync(home, { recursive: true })
})

async function stop(): Promise<void> {
  const stopped = new Promise((resolve) => {
    swapper.once('message', resolve)
  })
  Atomics.store(shared, 0, 1)
  await stopped
}

/** Returns the distinct texts of the results and failures of many calls; at least one succeeds. */
async function many(
  call: (round: number) => Promise<string>,
  isSuccess: (text: string) => boolean,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  const until = performance.now() + LIMIT_MS
  const isEnough = (round: number): boolean =>
    (round >= CALLS || performance.now() >= until) &&
    Atomics.load(shared, 1) > SWAPS &&
    [...seen].some(isSuccess)
  for (let round = 0; !isEnough(round); round++) seen.add(await call(round))
  return seen
}

function outsideNow(): readonly string[] {
  return readdirSync(outside, { recursive: true, encoding: 'utf8' }).toSorted()
}

describe('[TOOLS-L3] file tools while links change', () => {
  it('[TOOLS-O1] File tools while links change read content from inside the sandbox, or fail', async () => {
    const tool = fileRead({ directory: inside })
    const seen = await many(
      async (round) => {
        const path = round % 2 === 0 ? 'file.txt' : 'docs/b.txt'
        const call = { id: '1', name: 'file_read', arguments: JSON.stringify({ path }) }
        const { result } = await runTool(tool, call)
        return result.success ? `READ ${result.output}` : (result.errorMessage ?? '')
      },
      (text) => text === 'READ inside',
    )
    await stop()
    const contents = [...seen].filter((text) => text.startsWith('READ'))
    // A file is empty for a moment when the swapper creates it again.
    expect(contents.filter((text) => text !== 'READ inside' && text !== 'READ ')).toEqual([])
    expect([...seen].join('\n')).not.toContain('SECRET')
  })

  it('[TOOLS-O2] File tools while links change write a file inside the sandbox, or fail', async () => {
    const tool = fileWrite({ directory: inside })
    const before = outsideNow()
    await many(
      async (round) => {
        const path = ['file.txt', 'docs/b.txt', 'docs/made/c.txt'][round % 3]
        const call = {
          id: '1',
          name: 'file_write',
          arguments: JSON.stringify({ path, content: `WRITTEN ${round}` }),
        }
        const { result } = await runTool(tool, call)
        return result.success ? result.output : (result.errorMessage ?? '')
      },
      (text) => text.startsWith('Successfully wrote to'),
    )
    await stop()
    expect(outsideNow()).toEqual(before)
    for (const name of ['file.txt', 'docs/b.txt']) {
      expect(readFileSync(join(outside, name), 'utf8')).toBe('SECRET')
    }
    const names = readdirSync(inside, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})
