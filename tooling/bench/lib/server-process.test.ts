import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

import { describe, expect, test, vi } from 'vitest'

import { startServerProcess, type ServerLocation } from './server-process.ts'

/** A server that starts a child process, and is ready at its second response. */
const PROGRAM = `
  const { spawn } = require('node:child_process')
  const beside = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  let asked = 0
  require('node:http').createServer((request, response) => {
    if (request.url === '/pids') return response.end(JSON.stringify([process.pid, beside.pid]))
    response.statusCode = asked++ === 0 ? 503 : 200
    response.end()
  }).listen(Number(process.env.PORT), '127.0.0.1')`

function command(program: string, locations: ServerLocation[] = []) {
  return (location: ServerLocation) => {
    locations.push(location)
    return {
      file: process.execPath,
      args: ['-e', program],
      env: { PORT: String(location.port) },
    }
  }
}

/** Returns whether a process runs; a zombie does not. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return !/^(?:Z.*)?$/.test(stdout.trim())
}

describe('a server in a separate process', () => {
  test('A server in a separate process is ready when it answers 200, and ends with its children when it is disposed', async () => {
    const locations: ServerLocation[] = []
    let pids: readonly number[] = []
    {
      await using server = await startServerProcess(command(PROGRAM, locations), '/')
      expect(server.readyMs).toBeGreaterThan(0)
      pids = await (await fetch(`${server.url}/pids`)).json()
      expect(pids.map(isAlive)).toEqual([true, true])
    }
    await vi.waitFor(() => {
      expect(pids.map(isAlive)).toEqual([false, false])
    })
    expect(locations.map(({ dataDir }) => existsSync(dataDir))).toEqual([false])
  })

  test.runIf(process.platform === 'linux')(
    'A server in a separate process is measured with its children',
    async () => {
      await using server = await startServerProcess(command(PROGRAM), '/')
      await using alone = await startServerProcess(
        command(PROGRAM.replace(/const beside = .*/, 'const beside = {}')),
        '/',
      )
      expect(server.memoryMiB()).toBeGreaterThan(alone.memoryMiB() * 1.4)
      expect(server.cpuMs()).toBeGreaterThan(0)
    },
  )

  test('A server in a separate process throws with the last output of a server that ends before it is ready', async () => {
    const locations: ServerLocation[] = []
    const failing = command(`console.error('no key'); process.exit(3)`, locations)
    await expect(startServerProcess(failing, '/')).rejects.toThrow(/did not become ready: no key/)
    expect(locations.map(({ dataDir }) => existsSync(dataDir))).toEqual([false])
  })
})
