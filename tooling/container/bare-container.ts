/**
 * Runs the command of an image in its folder: as its user, with only its variables, and without write access
 * except to its volumes and `/tmp`. The port differs each time, as with `--publish`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { copyFileSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { freePort } from '../postgres/free-port.ts'

import type { BareImage } from './bare-image.ts'

/** Whether this process may start others as another user. */
export const CAN_CHANGE_USER = process.getuid?.() === 0

export interface ContainerOptions {
  /** Variables, as with `--env`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Folder that stands for `/data`. @default that of the image */
  readonly data?: string
}

/** A container that was started. */
export class BareContainer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #image: BareImage
  readonly #variables: Readonly<Record<string, string>>
  readonly port: number
  /** Exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>
  said = ''

  private constructor(image: BareImage, port: number, options: ContainerOptions) {
    this.#image = image
    this.port = port
    this.#variables = variablesOf(image, port, options)
    this.#child = spawn(nodeOf(image), image.command.slice(1).map(image.mapped), {
      ...placeOf(image),
      env: this.#variables,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (data: Buffer) => (this.said += data.toString()))
    }
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('exit', resolve)
    })
  }

  /** Starts a container. */
  static async run(image: BareImage, options: ContainerOptions = {}): Promise<BareContainer> {
    return new BareContainer(image, await freePort(), options)
  }

  /** Resolves when it accepts requests. @throws {Error} with its output when it ends before. */
  async ready(): Promise<this> {
    const ready = new Promise<void>((resolve) => {
      this.#child.stdout?.on('data', () => {
        if (/^Tutti ready on /m.test(this.said)) resolve()
      })
    })
    const first = await Promise.race([ready.then(() => 'ready'), this.ended])
    if (first !== 'ready') throw new Error(`The container ended with ${first}:\n${this.said}`)
    return this
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Returns the exit code of the health check. */
  health(): number | null {
    const [program = '', ...words] = this.#image.healthcheck.words
    if (program !== 'node') throw new Error(`The base has no "${program}"`)
    return spawnSync(nodeOf(this.#image), words.map(this.#image.mapped), {
      ...placeOf(this.#image),
      env: this.#variables,
    }).status
  }

  /** Runs a Node program in the container, as `exec` of an engine does, and returns its output. */
  exec(words: readonly string[]): { readonly code: number | null; readonly said: string } {
    const { status, stdout, stderr } = spawnSync(nodeOf(this.#image), [...words], {
      ...placeOf(this.#image),
      env: this.#variables,
      encoding: 'utf8',
    })
    return { code: status, said: stdout + stderr }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends the stop signal of the image and returns the exit code. */
  stop(): Promise<number | null> {
    // NOTE: the Dockerfile names a signal; kill() throws on any other name.
    this.#child.kill(this.#image.stopSignal as NodeJS.Signals)
    return this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }
}

/** Lists every file of the image with size and time, except writable folders. */
export function filesOf({ root, volumes }: BareImage): readonly string[] {
  const written = [...volumes, '/tmp'].map((path) => join(root, path))
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => !written.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    .map((path) => {
      const { size, mtimeMs, mode } = statSync(path)
      return `${path} ${size} ${mtimeMs} ${mode}`
    })
    .toSorted()
}

/** Copies Node of the base image to a directory in which every user can run it. */
function nodeOf({ root, command }: BareImage): string {
  if (command[0] !== 'node') throw new Error(`The base has no "${command[0] ?? ''}"`)
  const path = join(dirname(root), 'base', 'node')
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(process.execPath, path, constants.COPYFILE_FICLONE)
  }
  return path
}

function placeOf({ mapped, workdir, user }: BareImage) {
  const [uid, gid] = user.split(':').map(Number)
  const identity = CAN_CHANGE_USER && uid !== undefined && gid !== undefined ? { uid, gid } : {}
  return { cwd: mapped(workdir), ...identity }
}

function variablesOf(
  { root, environment, mapped, volumes }: BareImage,
  port: number,
  { environment: given = {}, data }: ContainerOptions,
): Readonly<Record<string, string>> {
  const declared = [...environment].map(([name, value]) => [name, mapped(value)])
  const writable = [
    ...volumes.map(mapped),
    join(root, 'tmp'),
    ...(data === undefined ? [] : [data]),
  ]
  // Stands for a read-only root file system; as our own user, permissions alone would not prevent writes.
  const guard = ['--permission', '--allow-fs-read=*', ...writable.map(allowWrites)]
  return {
    ...Object.fromEntries(declared),
    PORT: String(port),
    HOME: '/',
    TMPDIR: join(root, 'tmp'),
    NODE_OPTIONS: guard.join(' '),
    ...(data === undefined ? {} : { TUTTI_DATA_DIR: data }),
    ...given,
  }
}

function allowWrites(folder: string): string {
  return `--allow-fs-write=${folder} --allow-fs-write=${folder}/*`
}
