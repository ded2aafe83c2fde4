/** Returns the output of the built program on an unsupported version of Node. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

import { expect, it } from 'vitest'

import { PROGRAM } from './cli-process.ts'

const MANIFEST = new URL('../package.json', import.meta.url)

/** Runs the program as if on another Node, which lacks what is newer than Node 20. */
function runOn(version: string) {
  const versions = JSON.stringify({ ...process.versions, node: version })
  const preload = `Object.defineProperty(process, 'versions', { value: ${versions} })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, PROGRAM]
  return spawnSync(process.execPath, [...args, '--version'], { encoding: 'utf8', cwd: tmpdir() })
}

it('The program reports the required version of Node, which is that of its package', () => {
  const { engines } = JSON.parse(readFileSync(MANIFEST, 'utf8'))
  const needed = String(engines.node).replace(/^\D+/, '')
  const { status, stderr } = runOn('20.20.2')
  expect(stderr).toBe(
    `tutti needs Node ${needed} or later, but this is Node 20.20.2. Install a current Node: https://nodejs.org\n`,
  )
  expect(status).toBe(1)
  expect(runOn(`${needed}.0`).status).toBe(0)
})

it('The entry point has no static imports, because an old Node cannot link them', () => {
  expect(readFileSync(PROGRAM, 'utf8')).not.toMatch(/^import\s/m)
})
