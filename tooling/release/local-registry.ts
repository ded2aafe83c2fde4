/**
 * Serves packed packages from a registry on this machine: Verdaccio, which shares no code with npm's registry or with this
 * repository. It is not a dependency, because only a rehearsal of a release needs its 320 packages.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { stringify } from 'yaml'

import { readTarball } from '../packages/tarball.ts'
import { freePort } from '../postgres/free-port.ts'

/** The program, and a dependency of it by its number: some registries lack the tag that the program asks for. */
const PROGRAM = {
  private: true,
  dependencies: { verdaccio: '6.10.4' },
  overrides: { 'node-fetch': '2.7.0' },
}

/** Time within which the registry answers. */
const START_MS = 60_000

/** Interval between attempts to reach the registry that starts. */
const POLL_MS = 200

/** A registry that runs. Disposing stops it. */
export interface LocalRegistry extends AsyncDisposable {
  /** Such as `http://127.0.0.1:20123`. */
  readonly url: string
  /** Publishes a tarball. @throws {Error} with the answer of the registry if it refuses the package. */
  publish(tarball: string): Promise<void>
}

/**
 * Starts an empty registry with its files in the new folder `folder`. It has other packages from the registry `uplink`.
 *
 * @throws {Error} with the output of the registry if it does not start.
 */
export async function startLocalRegistry(folder: string, uplink: string): Promise<LocalRegistry> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'config.yaml')
  writeFileSync(config, stringify(toConfig(folder, uplink)))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const words = [installProgram(join(folder, 'program')), '--config', config, '--listen', url]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  await untilReady(child, url)
  return {
    url,
    publish: (tarball) => publish(url, tarball),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill()
      await ended
    },
  }
}

/** Installs the program into `folder` and returns its path. */
function installProgram(folder: string): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(PROGRAM))
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return join(folder, 'node_modules', '.bin', 'verdaccio')
}

function toConfig(folder: string, uplink: string): unknown {
  const everyone = { access: '$all', publish: '$all' }
  return {
    storage: join(folder, 'packages'),
    uplinks: { npm: { url: uplink, maxage: '1h', timeout: '60s' } },
    packages: {
      // Never from the uplink, also once they are published.
      '@tutti/*': everyone,
      'create-tutti': everyone,
      '**': { access: '$all', proxy: 'npm' },
    },
    publish: { allow_offline: true },
    web: { enable: false },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'json', level: 'warn' },
  }
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  let output = ''
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  child.once('close', () => (hasEnded = true))
  const limit = AbortSignal.timeout(START_MS)
  while (!hasEnded && !limit.aborted) {
    const isReady = await fetch(`${url}/-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  child.kill()
  throw new Error(`Verdaccio did not become ready at ${url}:\n${output}`)
}

/**
 * Sends a package as `npm publish` does. The program of npm is not used, because a setting of the machine or of a package
 * could send it to another registry.
 */
async function publish(registry: string, path: string): Promise<void> {
  const { bytes, manifest } = readTarball(path)
  const { name, version } = manifest
  const file = `${name}-${version}.tgz`
  const digest = (algorithm: string) => createHash(algorithm).update(bytes)
  const dist = {
    integrity: `sha512-${digest('sha512').digest('base64')}`,
    shasum: digest('sha1').digest('hex'),
    tarball: `${registry}/${name}/-/${file}`,
  }
  const data = Buffer.from(bytes).toString('base64')
  const response = await fetch(`${registry}/${name.replace('/', '%2f')}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      _id: name,
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data, length: bytes.length },
      },
    }),
  })
  if (response.ok) return
  throw new Error(`The registry refused ${name}@${version}: ${await response.text()}`)
}
