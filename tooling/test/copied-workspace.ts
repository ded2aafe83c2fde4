/** A copy of the workspace's sources, in which tests make changes. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** File → its text, if it is new, or else texts to insert, each before an anchor that occurs once. */
export type Changes = Readonly<
  Record<string, string | readonly (readonly [anchor: string, inserted: string])[]>
>

const execute = promisify(execFile)

/** A copy of the sources of all packages and apps, with links to their dependencies. */
export class CopiedWorkspace implements Disposable {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-copy-')))

  constructor() {
    for (const folder of ['packages', 'apps']) {
      for (const name of readdirSync(join(ROOT, folder))) {
        const from = join(ROOT, folder, name)
        if (existsSync(join(from, 'src'))) this.#copyPackage(from, join(this.#root, folder, name))
      }
    }
    this.copy('tooling/tsconfig')
    this.#linkModules(join(ROOT, 'node_modules'), join(this.#root, 'node_modules'))
    const tsconfig = {
      extends: './tooling/tsconfig/base.json',
      compilerOptions: {
        module: 'ESNext',
        moduleResolution: 'Bundler',
        jsx: 'react-jsx',
        types: ['node', 'vite/client'],
        typeRoots: [join(ROOT, 'node_modules/@types'), join(ROOT, 'apps/dashboard/node_modules')],
      },
      include: ['apps/server/src', 'apps/dashboard/src', 'packages/react/src'],
    }
    this.write('tsconfig.json', JSON.stringify(tsconfig))
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true })
  }

  /** Copies a file or a folder of the workspace, which can be a test. */
  copy(path: string, to = path): void {
    cpSync(join(ROOT, path), join(this.#root, to), { recursive: true })
  }

  /** Writes a new file. */
  write(file: string, text: string): void {
    writeFileSync(join(this.#root, file), text)
  }

  /**
   * Makes changes.
   *
   * @throws {Error} when an anchor does not occur once, or a new file exists.
   */
  change(changes: Changes): void {
    for (const [file, change] of Object.entries(changes)) {
      if (typeof change === 'string') {
        if (existsSync(join(this.#root, file))) throw new Error(`Expected no file ${file}`)
        this.write(file, change)
      } else {
        this.#insert(file, change)
      }
    }
  }

  /** Compiles the copy and returns the errors. */
  async compile(): Promise<string> {
    return this.#run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', this.#root])
  }

  /** Runs the tests in these files whose names contain a text. Returns the report if one fails or none is found. */
  async test(files: readonly string[], name: string): Promise<string> {
    const vitest = join(ROOT, 'node_modules/.bin/vitest')
    const report = join(this.#root, 'report.json')
    const words = ['run', ...files, '-t', name, '--reporter=json', `--outputFile=${report}`]
    const output = await this.#run(vitest, words)
    if (!existsSync(report)) return output
    const text = readFileSync(report, 'utf8')
    // NOTE: the format of the reporter.
    const { success, numPassedTests } = JSON.parse(text) as {
      readonly success: boolean
      readonly numPassedTests: number
    }
    return success && numPassedTests > 0 ? '' : text
  }

  /**
   * Runs a program and returns its output.
   *
   * @throws {Error} when it fails.
   */
  async execute(file: string): Promise<string> {
    const words = ['--conditions=@tutti/source', '--disable-warning=ExperimentalWarning']
    return (await execute(process.execPath, [...words, join(this.#root, file)])).stdout
  }

  /** Returns the output of a tool, which exits with another status than 0 when it finds errors. */
  async #run(program: string, words: readonly string[]): Promise<string> {
    const end = execute(program, [...words], { cwd: this.#root })
    return (await end.catch((error: { stdout: string }) => error)).stdout
  }

  #insert(file: string, changes: readonly (readonly [string, string])[]): void {
    const path = join(this.#root, file)
    let text = readFileSync(path, 'utf8')
    for (const [anchor, inserted] of changes) {
      if (text.split(anchor).length !== 2) throw new Error(`Expected "${anchor}" once in ${file}`)
      text = text.replace(anchor, () => `${inserted}${anchor}`)
    }
    writeFileSync(path, text)
  }

  #copyPackage(from: string, to: string): void {
    const isSource = (path: string): boolean => !/\.(test|test-d|examples)\.tsx?$/.test(path)
    cpSync(join(from, 'src'), join(to, 'src'), { recursive: true, filter: isSource })
    cpSync(join(from, 'package.json'), join(to, 'package.json'))
    this.#linkModules(join(from, 'node_modules'), join(to, 'node_modules'))
  }

  /** Links each dependency, and each package of the workspace to its copy. */
  #linkModules(from: string, to: string): void {
    if (!existsSync(from)) return
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(from)) {
      const target = join(from, name)
      if (name.startsWith('@')) this.#linkModules(target, join(to, name))
      else symlinkSync(this.#findCopy(realpathSync(target)), join(to, name))
    }
  }

  /** Returns the copy of a package of the workspace; the path itself for every other one. */
  #findCopy(path: string): string {
    const inside = relative(ROOT, path)
    return /^(packages|apps)\//.test(inside) ? join(this.#root, inside) : path
  }
}
