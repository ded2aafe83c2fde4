/** I/O of the program in tests: a temporary folder, no terminal, and collected output. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'

import { runCreate } from '../src/run-create.ts'

import type { CreateIo } from '../src/create-io.ts'

/** A temporary working directory for the program. */
export class TestFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'create-tutti-'))

  /** Runs the program. Returns its exit code and output. */
  async create(args: readonly string[], changes: Partial<CreateIo> = {}) {
    const [stdout, stderr] = [new CollectedOutput(), new CollectedOutput()]
    const exitCode = await runCreate(args, {
      stdin: new PassThrough(),
      stdout,
      stderr,
      variables: { PATH: process.env['PATH'] },
      cwd: this.path,
      ...changes,
    })
    return { exitCode, output: stdout.text, errors: stderr.text }
  }

  /** Returns the path of an entry of the directory. */
  at(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true })
  }
}

class CollectedOutput extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
