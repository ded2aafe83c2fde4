/** Lets the user change a text in their editor. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { errorMessage } from '@tutti/core/internal'

import type { CommandIo } from '../../terminal/command-io.ts'

/** Result of an edit. */
export type Edited =
  | { readonly kind: 'edited'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface EditOptions {
  readonly io: CommandIo
  /** Aborts to end the editor. */
  readonly signal: AbortSignal | undefined
  /** Extension of the file name, from which editors detect the language. */
  readonly ending: 'md' | 'json'
}

/** Opens the text in `$VISUAL`, `$EDITOR` or the default editor of the system, and returns the saved text. */
export async function editText(text: string, { io, signal, ending }: EditOptions): Promise<Edited> {
  const directory = await mkdtemp(join(tmpdir(), 'tutti-edit-'))
  const path = join(directory, `review.${ending}`)
  try {
    // Other users of the machine must not read it.
    await writeFile(path, text, { mode: 0o600 })
    const problem = await runEditor(path, io, signal)
    if (problem !== undefined) return { kind: 'failed', message: problem }
    return { kind: 'edited', text: withoutAddedBreak(await readFile(path, 'utf8'), text) }
  } catch (error) {
    return { kind: 'failed', message: `The editor failed: ${errorMessage(error)}` }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs the editor until it is closed. Returns the problem if it failed. */
async function runEditor(
  path: string,
  { stdout, variables }: CommandIo,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const isWindows = process.platform === 'win32'
  const editor = variables['VISUAL'] || variables['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // The variable may contain options, as in `code --wait`, so a shell evaluates it, as git does.
  const [command, args] = isWindows
    ? [`${editor} "${path}"`, []]
    : ['/bin/sh', ['-c', `${editor} "$1"`, editor, path]]
  const child = spawn(command, args, {
    shell: isWindows,
    // Standard output may be a file, but the editor needs the terminal.
    stdio: ['inherit', stdout.isTTY === true ? 'inherit' : 2, 2],
    ...(signal === undefined ? {} : { signal }),
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, killed) => {
      resolve(
        code === 0
          ? undefined
          : `The editor "${editor}" exited with ${code ?? killed}; set EDITOR to use another one`,
      )
    })
  })
}

/** Removes the line break that most editors add at the end of a file. */
function withoutAddedBreak(saved: string, before: string): string {
  return before.endsWith('\n') ? saved : saved.replace(/\r?\n$/, '')
}
