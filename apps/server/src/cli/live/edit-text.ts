/** Has a person change a text in the editor of their choice. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { errorMessage } from '@tutti/core'

import type { CommandIo } from '../command-io.ts'

/** What came of it. */
export type Edited =
  | { readonly kind: 'edited'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string }

/** How to edit. */
export interface EditOptions {
  readonly io: CommandIo
  /** Ends the editor. */
  readonly signal: AbortSignal | undefined
  /** Ending of the file's name, by which editors know what they edit. */
  readonly ending: 'md' | 'json'
}

/** Opens the text in `$VISUAL`, `$EDITOR` or the usual editor of the system, and gives it as it was saved. */
export async function editText(text: string, { io, signal, ending }: EditOptions): Promise<Edited> {
  const directory = await mkdtemp(join(tmpdir(), 'tutti-edit-'))
  const path = join(directory, `review.${ending}`)
  try {
    // Nobody else on the machine has to read it.
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

/** Resolves when the editor is closed, with what went wrong. */
async function runEditor(
  path: string,
  { stdout, variables }: CommandIo,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const isWindows = process.platform === 'win32'
  const editor = variables['VISUAL'] || variables['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // The variable may hold options, as in "code --wait": a shell reads it, as git has it read.
  const [command, words] = isWindows
    ? [`${editor} "${path}"`, []]
    : ['/bin/sh', ['-c', `${editor} "$1"`, editor, path]]
  const child = spawn(command, words, {
    shell: isWindows,
    // What the command prints may go to a file; the editor needs the terminal.
    stdio: ['inherit', stdout.isTTY === true ? 'inherit' : 2, 2],
    ...(signal === undefined ? {} : { signal }),
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, killed) => {
      resolve(
        code === 0
          ? undefined
          : `The editor "${editor}" ended with ${code ?? killed}; set EDITOR to use another`,
      )
    })
  })
}

/** Most editors end a file with a line break, also when the text had none. */
function withoutAddedBreak(saved: string, before: string): string {
  return before.endsWith('\n') ? saved : saved.replace(/\r?\n$/, '')
}
