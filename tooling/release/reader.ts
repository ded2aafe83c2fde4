/** Runs the commands of a reader: in a folder outside of the repository, with one version of Node and one registry. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Variables that would change the behavior of a project, or reveal that a package manager runs this program. */
const OWN =
  /^(?:npm_|HOST$|PORT$|DATABASE_|TUTTI_|MODEL$|REVIEW$|OPENAI_|ANTHROPIC_|NODE_OPTIONS$|VITEST|TEST$|NODE_ENV$)/i

/** Result of a command that succeeded. */
export interface CommandOutput {
  readonly stdout: string
  readonly stderr: string
}

/** Node and environment of a reader. */
export interface ReaderOptions {
  /** Folder with the program `node`. @default that of this process */
  readonly nodeFolder?: string
  /** Further variables, such as `npm_config_registry`. */
  readonly variables?: Readonly<Record<string, string>>
}

/** A person with a shell. */
export class Reader {
  readonly environment: Readonly<Record<string, string | undefined>>

  constructor({ nodeFolder = dirname(process.execPath), variables = {} }: ReaderOptions = {}) {
    const others = Object.entries(process.env).filter(([name]) => !OWN.test(name))
    this.environment = {
      ...Object.fromEntries(others),
      // This Node without the other programs of the repository.
      PATH: [nodeFolder, ...foldersOfPath()].join(delimiter),
      NO_COLOR: '1',
      ...variables,
    }
  }

  /** Runs a program to its end. @throws {Error} with its output when it fails. */
  run(cwd: string, program: string, ...words: readonly string[]): CommandOutput {
    const { status, stdout, stderr, error } = spawnSync(program, words, {
      cwd,
      env: this.environment,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    if (status === 0) return { stdout, stderr }
    const reason = error?.message ?? `exit code ${status}`
    throw new Error(`${program} ${words.join(' ')}: ${reason}\n${stdout}${stderr}`)
  }

  /** Starts the server of a project with a script of its package.json, and waits until it accepts requests. */
  async serve(cwd: string, script: string): Promise<ServedProject> {
    // In a separate process group, npm and its children stop together, as with Ctrl-C.
    const child = spawn('npm', ['run', '--silent', script], {
      cwd,
      env: { ...this.environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const ended = once(child, 'close')
    let output = ''
    const ready = new Promise<string>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (data: Buffer) => {
          output += data.toString()
          const [url] = /\bhttp:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(output) ?? []
          if (url !== undefined) resolve(url)
        })
      }
    })
    const url = await Promise.race([ready, ended.then(() => undefined)])
    if (url === undefined)
      throw new Error(`"npm run ${script}" ended before it was ready: ${output}`)
    return {
      url,
      async [Symbol.asyncDispose]() {
        if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM')
        await ended
      },
    }
  }
}

/** The server of a project. Disposing stops it. */
export interface ServedProject extends AsyncDisposable {
  readonly url: string
}

/** Installs a version of Node from npm into `folder`, and returns the folder of its program. */
export function installNode(reader: Reader, folder: string, version: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  reader.run(folder, 'npm', 'install', '--no-save', `node@${version}`)
  return join(folder, 'node_modules', 'node', 'bin')
}

function foldersOfPath(): readonly string[] {
  const folders = process.env['PATH']?.split(delimiter) ?? []
  return folders.filter((folder) => !folder.startsWith(process.cwd()))
}
