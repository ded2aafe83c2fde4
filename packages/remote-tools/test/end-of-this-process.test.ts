import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { programPath } from './languages.ts'
import { isRunning, untilGone, untilWritten } from '../../../tooling/test-kit/processes.ts'
import { until } from '../../../tooling/test-kit/wait.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-parent-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('[NET-P3] a program does not outlive this process', () => {
  it('A program does not outlive this process when it exits with a call in flight', async () => {
    const { ended, pids } = await start('exit')
    expect(await ended).toMatchObject({ code: 7 })
    await allGone(pids)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'A program does not outlive this process when it is ended by %s',
    async (signal) => {
      const { child, ended, pids, said } = await start('wait')
      await until('it to wait', () => said() === 'waiting\n')
      child.kill(signal)
      expect(await ended).toMatchObject({ signal, output: 'waiting\n' })
      await allGone(pids)
    },
  )

  it.each(['wait', 'leave'])(
    'A program does not outlive this process when it is killed by SIGKILL: %s',
    async (how) => {
      const { child, ended, pids, said } = await start(how)
      await until('it to wait', () => said() === 'waiting\n')
      expect(pids.map(isRunning)).toEqual([true, true])
      child.kill('SIGKILL')
      expect(await ended).toMatchObject({ signal: 'SIGKILL' })
      await allGone(pids)
    },
  )

  it('An idle worker does not outlive this process, and does not keep it alive', async () => {
    const { ended, pids } = await start('idle')
    expect(await ended).toEqual({ code: 0, signal: null, output: 'done\ndone\n' })
    await allGone(pids)
  })

  it('A worker without a waiting call does not outlive this process', async () => {
    const { ended, pids } = await start('abandon')
    expect(await ended).toEqual({ code: 0, signal: null, output: 'cancelled\n' })
    await allGone(pids)
  })

  it('A process can wait for the end of its programs', async () => {
    const { ended, pids } = await start('close')
    expect(await ended).toEqual({ code: 0, signal: null, output: 'done\ndone\nclosed\n' })
    expect(isRunning(pids[0] ?? 0)).toBe(false)
    await allGone(pids)
  })
})

interface Parent {
  readonly child: ChildProcess
  /** Process ids of the program and its descendants. */
  readonly pids: readonly number[]
  /** Output so far. */
  said(): string
  readonly ended: Promise<object>
}

async function start(how: string): Promise<Parent> {
  const path = join(folder, `${how}-${Math.random()}`)
  const child = spawn(
    process.execPath,
    ['--conditions=@tutti/source', programPath('parent.ts'), how, path],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = new Promise<object>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal, output })
    })
  })
  const pids = (await untilWritten(path)).split(' ').map(Number)
  expect(pids).toHaveLength(2)
  return { child, pids, said: () => output, ended }
}

async function allGone(pids: readonly number[]): Promise<void> {
  await Promise.all(pids.map(untilGone))
}
