import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

import { describe, expect, test, vi } from 'vitest'

import { startServerProcess, type ServerPlace } from './server-process.ts'

/** A server that starts a process beside it, and is ready on its second answer. */
const PROGRAM = `
  const { spawn } = require('node:child_process')
  const beside = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  let asked = 0
  require('node:http').createServer((request, response) => {
    if (request.url === '/pids') return response.end(JSON.stringify([process.pid, beside.pid]))
    response.statusCode = asked++ === 0 ? 503 : 200
    response.end()
  }).listen(Number(process.env.PORT), '127.0.0.1')`

function command(program: string, places: ServerPlace[] = []) {
  return (place: ServerPlace) => {
    places.push(place)
    return {
      file: process.execPath,
      args: ['-e', program],
      env: { PORT: String(place.port) },
    }
  }
}

/** Whether a process runs; one that has ended and that nobody has looked after does not. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return !/^(?:Z.*)?$/.test(stdout.trim())
}

describe('a server in a process of its own', () => {
  test('is there when it answers 200, and is gone with all it started when it is disposed of', async () => {
    const places: ServerPlace[] = []
    let pids: readonly number[] = []
    {
      await using server = await startServerProcess(command(PROGRAM, places), '/')
      expect(server.readyMs).toBeGreaterThan(0)
      pids = await (await fetch(`${server.url}/pids`)).json()
      expect(pids.map(isAlive)).toEqual([true, true])
    }
    await vi.waitFor(() => {
      expect(pids.map(isAlive)).toEqual([false, false])
    })
    expect(places.map(({ dataDir }) => existsSync(dataDir))).toEqual([false])
  })

  test.runIf(process.platform === 'linux')('is weighed with what it started', async () => {
    await using server = await startServerProcess(command(PROGRAM), '/')
    await using alone = await startServerProcess(
      command(PROGRAM.replace(/const beside = .*/, 'const beside = {}')),
      '/',
    )
    expect(server.memoryMiB()).toBeGreaterThan(alone.memoryMiB() * 1.4)
    expect(server.cpuMs()).toBeGreaterThan(0)
  })

  test('that ends before it is ready is an error with its last words, and leaves nothing', async () => {
    const places: ServerPlace[] = []
    const failing = command(`console.error('no key'); process.exit(3)`, places)
    await expect(startServerProcess(failing, '/')).rejects.toThrow(/did not get ready: no key/)
    expect(places.map(({ dataDir }) => existsSync(dataDir))).toEqual([false])
  })
})
