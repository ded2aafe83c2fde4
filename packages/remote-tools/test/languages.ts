/** Finds the languages of test programs that are installed on this machine. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** An interpreter, and the test program that executes its input. */
export interface Language {
  readonly name: string
  /** Path of the interpreter; undefined when it is not installed. */
  readonly command: string | undefined
  readonly program: string
}

/** All languages; tests skip those that are not installed. Node always is. */
export const LANGUAGES: readonly Language[] = [
  { name: 'node', command: process.execPath, program: programPath('protocol.mjs') },
  {
    name: 'python',
    command: pathBy('python3', ['-c', 'import sys; print(sys.executable)']),
    program: programPath('protocol.py'),
  },
  {
    name: 'perl',
    command: pathBy('perl', ['-MJSON::PP', '-e', 'print $^X']),
    program: programPath('protocol.pl'),
  },
  {
    name: 'sh',
    command: pathBy('sh', ['-c', 'command -v sh']),
    program: programPath('protocol.sh'),
  },
]

/** Returns the interpreter of a language; undefined when it is not installed. */
export function interpreterOf(name: string): string | undefined {
  return LANGUAGES.find((language) => language.name === name)?.command
}

/** Returns the path of a test program. */
export function programPath(file: string): string {
  return fileURLToPath(new URL(`programs/${file}`, import.meta.url))
}

/** Asks an interpreter for its real path, so that tests do not run slow wrappers such as that of pyenv. */
function pathBy(command: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
