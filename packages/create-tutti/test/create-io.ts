/** The outside of the program in tests: a folder of its own, no terminal, and what was written. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'

import { runCreate } from '../src/run-create.ts'

import type { CreateIo } from '../src/create-io.ts'

/** A working directory in which the program is run. */
export class Workplace implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'create-tutti-'))

  /** Runs the program: its exit code and what it said. */
  async create(words: readonly string[], changes: Partial<CreateIo> = {}) {
    const [stdout, stderr] = [new Collected(), new Collected()]
    const exitCode = await runCreate(words, {
      stdin: new PassThrough(),
      stdout,
      stderr,
      variables: { PATH: process.env['PATH'] },
      cwd: this.path,
      nodeVersion: '24.0.0',
      ...changes,
    })
    return { exitCode, output: stdout.text, errors: stderr.text }
  }

  /** The path of something in it. */
  at(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true })
  }
}

class Collected extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
